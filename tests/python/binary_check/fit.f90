! As fit.c, of Fortran.
subroutine axpy(a, b, n)
  integer :: n, i
  real(8) :: a(n), b(n)
  !$omp parallel do
  do i = 1, n
    a(i) = a(i) + 2 * b(i)
  end do
end subroutine
subroutine triangular(a, n)
  integer :: n, i, j
  real(8) :: a(n), s
  !$omp parallel do private(s, j) schedule(static)
  do i = 1, n
    s = 0
    do j = 1, i
      s = s + 1d0 / j
    end do
    a(i) = s
  end do
end subroutine
