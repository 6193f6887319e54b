"""HPC Challenge, the MPI benchmark of Debian's package `hpcc`: https://hpcchallenge.org."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path

from benchmarks.job_suite import environment, under_mpirun
from benchmarks.running import BenchError, finished

_TIMEOUT_S = 900
# What hpcc makes of _SIZE: words of the table of MPIRandomAccess, points of MPIFFT.
_SIZE = 1000
TABLE_WORDS, FFT_POINTS = 1 << 19, 1 << 16
# All lines must be there, in this order. Small sizes: what is compared are messages.
_INPUT = """HPLinpack benchmark input file
Trimtab
HPL.out      output file name (if any)
8            device out (6=stdout,7=stderr,file)
1            # of problems sizes (N)
{size}       Ns
1            # of NBs
80           NBs
0            PMAP process mapping (0=Row-,1=Column-major)
1            # of process grids (P x Q)
1            Ps
2            Qs
16.0         threshold
1            # of panel fact
2            PFACTs (0=left, 1=Crout, 2=Right)
1            # of recursive stopping criterium
4            NBMINs (>= 1)
1            # of panels in recursion
2            NDIVs
1            # of recursive panel fact.
1            RFACTs (0=left, 1=Crout, 2=Right)
1            # of broadcast
1            BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
1            # of lookahead depth
1            DEPTHs (>=0)
2            SWAP (0=bin-exch,1=long,2=mix)
64           swapping threshold
0            L1 in (0=transposed,1=no-transposed) form
0            U  in (0=transposed,1=no-transposed) form
1            Equilibration (0=no,1=yes)
8            memory alignment in double (> 0)
##### This line (no. 32) is ignored (it serves as a separator). ######
0            Number of additional problem sizes for PTRANS
1200 10000 30000 values of N
0            number of additional blocking sizes for PTRANS
40 9 8 13 13 20 16 32 64 values of NB
"""
# In its output, by our name.
_FIGURES = {
    "GUPS": "MPIRandomAccess_GUPs",
    "FFT": "MPIFFT_Gflops",
    "latency": "AvgPingPongLatency_usec",
    "PTRANS": "PTRANS_GBs",
    "bandwidth": "AvgPingPongBandwidth_GBytes",
}


def gigaflops(points: int, seconds: float) -> float:
    """Of a Fourier transform, as hpcc counts: 5 n log2(n).

    Example:
        >>> gigaflops(1024, 51.2e-6)
        1.0
    """
    return round(5e-9 * points * math.log2(points) / seconds, 9)


def run(transport: str) -> dict[str, float]:
    """One run of two ranks.

    Returns:
        GUPS, FFT (Gflop/s), latency (us, one way), PTRANS and bandwidth (GB/s).
    """
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "hpccinf.txt").write_text(_INPUT.format(size=_SIZE), encoding="ascii")
        finished(under_mpirun(transport, ["hpcc"]), _TIMEOUT_S, env=environment(), cwd=folder)
        return figures(Path(folder, "hpccoutf.txt").read_text(encoding="utf-8", errors="replace"))


def figures(written: str) -> dict[str, float]:
    """What its summary says.

    Raises:
        BenchError: a figure is missing, or the sizes are not those that ours are compared at.
    """
    values = dict(line.split("=", 1) for line in written.splitlines() if line.count("=") == 1)
    expected = {"MPIRandomAccess_N": str(TABLE_WORDS), "MPIFFT_N": str(FFT_POINTS), "Success": "1"}
    for name, value in expected.items():
        if values.get(name) != value:
            raise BenchError(f"hpcc: expected {name}={value}, found {values.get(name)}")
    missing = [name for name in _FIGURES.values() if name not in values]
    if missing:
        raise BenchError(f"hpcc: expected {', '.join(missing)} in hpccoutf.txt, found none")
    return {name: float(values[long]) for name, long in _FIGURES.items()}
