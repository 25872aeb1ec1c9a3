"""First base classes of the estimators. Here they are empty, for `estimator` makes the constructors from the option table;
the stub beside this file tells type checkers what it makes.
"""


class SphericalFactorizationSignature: ...


class SphericalPCASignature: ...


class SphericalNMFSignature: ...


class SphericalKMeansSignature: ...


class AutoClusterSignature: ...
