! As reductions.c, of Fortran.
subroutine summed(a, n, total)
  integer :: n, i
  real(8) :: a(n), total
  !$omp parallel do reduction(+:total)
  do i = 1, n
    total = total + a(i)
  end do
end subroutine
subroutine triangular(a, n, total)
  integer :: n, i, j
  real(8) :: a(n), total
  !$omp parallel do private(j) reduction(+:total) schedule(static)
  do i = 1, n
    do j = 1, i
      total = total + a(j) / i
    end do
  end do
end subroutine
subroutine largest(a, n, most)
  integer :: n, i
  real(8) :: a(n), most
  !$omp parallel do reduction(max:most)
  do i = 1, n
    most = max(most, a(i))
  end do
end subroutine
subroutine counted(a, n, total)
  integer :: n, i, total
  integer :: a(n)
  !$omp parallel do reduction(+:total)
  do i = 1, n
    if (a(i) > 3) total = total + 1
  end do
end subroutine
subroutine several(a, n, one, two)
  integer :: n, i
  real(8) :: a(n), one, two
  !$omp parallel do reduction(+:one, two)
  do i = 1, n
    one = one + a(i)
    two = two + a(i)**2
  end do
end subroutine
