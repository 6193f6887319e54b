! As unfit.c, of Fortran.
subroutine by_number(a, n)
  use omp_lib
  integer :: n, i
  integer :: a(n)
  !$omp parallel do
  do i = 1, n
    a(i) = omp_get_thread_num()
  end do
end subroutine
subroutine printed(a, n)
  integer :: n, i
  real(8) :: a(n)
  !$omp parallel do
  do i = 1, n
    print *, a(i)
  end do
end subroutine
subroutine allocated_in(a, n)
  integer :: n, i
  real(8) :: a(n)
  real(8), allocatable :: work(:)
  !$omp parallel do private(work)
  do i = 1, n
    allocate(work(i))
    work(:) = i
    a(i) = sum(work)
    deallocate(work)
  end do
end subroutine
