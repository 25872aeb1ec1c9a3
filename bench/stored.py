"""The part of bench.py for short types: a sweep over f16, bf16, i8 and u8 against one over the same data in f32."""
from grid import parse_table

#: Of a sweep in f32; what halves or quarters the bytes that are read.
TARGETS = {"f16": 1.6, "bf16": None, "i8": 2.0, "u8": 2.0}


class StoredParts:
    def part_stored(self):
        """a sweep over f16, bf16, i8 and u8 against f32"""
        samples, bars = 10000 if self.quick else 100000, []
        for features in (64, 784):
            count = samples * 784 // features
            text = self.with_blas(None, list(map(str, [
                self.roofline, "--features", features, "--samples", count, "--ranks", "2,10", "--types",
                "f32,f16,bf16,i8,u8", "--threads", 2, "--repetitions", 5 if self.quick else 15])))
            table = parse_table(text)
            for (stored, rank), (_, _, sweep) in table.items():
                if stored == "f32":
                    continue
                ratio, target = table["f32", rank][2] / sweep, TARGETS[stored] if rank == 10 else None
                self.row(f"sweep {stored} r={rank}, {features}x{count}: against f32", f"{ratio:.2f}x",
                         f">= {target}x" if target else "", ratio >= target if target else None)
                bars.append((f"{stored}, r = {rank}, {features} features", ratio, target))
        self.bars("stored", "A sweep over short types", "times as fast as f32", bars)
