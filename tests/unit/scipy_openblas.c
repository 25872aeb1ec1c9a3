/* The names of an OpenBLAS as wheels of SciPy carry it, for test_blas_open.c, which looks them up and calls none. */
#define HAS(name)                                                                                                      \
    void scipy_##name(void);                                                                                           \
    void scipy_##name(void)                                                                                            \
    {                                                                                                                  \
    }

HAS(dgemm_)
HAS(dsyrk_)
HAS(dgeqrf_)
HAS(dorgqr_)
HAS(dgesdd_)
HAS(dsyevd_)
HAS(dpotrf_)
HAS(dtrsm_)
HAS(openblas_get_num_threads)
HAS(openblas_set_num_threads)
