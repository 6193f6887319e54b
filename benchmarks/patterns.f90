! What the Fortran programs of pattern_rows_fortran.py have in common; the same as patterns.hpp.
module patterns
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use omp_lib
  implicit none
  integer, parameter :: trip = 240, half = trip / 2, rows = 12, columns = 20, most_times = 100000
  integer :: steps(trip)
  integer(int64) :: answer(trip), cell(trip), sum_of_answers
  real(real64) :: begun, primary_began = 0, last_finished = 0
  logical :: is_right, is_primary = .false., has_marks = .false.
  character(32) :: running, chosen
  integer :: instances_given, scale, wrong = 0, taken = 0
  integer :: clock_of(most_times)
  character(32) :: clock_name(most_times)
  real(real64) :: clock_least(most_times), clock_most(most_times)
  !$omp threadprivate(is_primary)
contains
  function work(i) result(x)
    integer, intent(in) :: i
    integer(int64) :: x
    integer :: k
    if (has_marks .and. is_primary .and. primary_began == 0) primary_began = omp_get_wtime()
    x = i
    do k = 1, steps(i)
      x = iand(x * 1103515245_int64 + 12345_int64, 2147483647_int64)
    end do
    if (has_marks) then
      !$omp atomic write
      last_finished = omp_get_wtime()
    end if
  end function

  subroutine start()
    if (.not. is_primary) return
    primary_began = 0
    begun = omp_get_wtime()
  end subroutine

  subroutine stop_at(iterations)
    integer, intent(in) :: iterations
    if (is_primary) call took(iterations, omp_get_wtime())
  end subroutine

  subroutine took(iterations, end)
    integer, intent(in) :: iterations
    real(real64), intent(in) :: end
    if (taken == most_times) return
    taken = taken + 1
    clock_name(taken) = running
    clock_of(taken) = iterations
    clock_least(taken) = merge(last_finished - primary_began, 0.0_real64, primary_began > 0)
    clock_most(taken) = end - begun
  end subroutine

  subroutine expect(is_so)
    logical, intent(in) :: is_so
    is_right = is_right .and. is_so
  end subroutine

  subroutine expect_cells(instances)
    integer, intent(in) :: instances
    call expect(all(cell == instances * answer))
  end subroutine

  subroutine prepare()
    character(32) :: shape, text
    integer :: i, rising, length
    call get_environment_variable('PATTERNS_CLOCK', length=length)
    has_marks = length > 0
    call get_command_argument(1, shape)
    call get_command_argument(2, text)
    read (text, *) instances_given
    call get_command_argument(3, chosen)
    if (chosen == '') chosen = 'all'
    scale = 2000
    call get_command_argument(4, text)
    if (text /= '') read (text, *) scale
    is_primary = .true.
    do i = 1, trip
      rising = 2 * (i - 1) * scale / trip
      select case (shape)
      case ('light-first')
        steps(i) = rising
      case ('heavy-first')
        steps(i) = 2 * scale - rising
      case default
        steps(i) = merge(scale / 4, 2 * scale - scale / 4, mod(i, 2) == 1)
      end select
      answer(i) = work(i)
    end do
    sum_of_answers = sum(answer)
  end subroutine

  subroutine run_pattern(name, pattern)
    character(*), intent(in) :: name
    interface
      subroutine pattern(instances)
        integer, intent(in) :: instances
      end subroutine
    end interface
    if (chosen /= name .and. chosen /= 'all') return
    running = name
    is_right = .true.
    cell = 0
    call pattern(instances_given)
    print '(a)', name // merge(' right', ' wrong', is_right)
    if (.not. is_right) wrong = wrong + 1
  end subroutine

  subroutine end_patterns()
    character(4096) :: file
    integer :: i, out
    call get_environment_variable('PATTERNS_CLOCK', file)
    if (file /= '') then
      open (newunit=out, file=file, status='replace')
      do i = 1, taken
        write (out, '(a, 1x, i0, 2(1x, f0.9))') trim(clock_name(i)), clock_of(i), clock_least(i), clock_most(i)
      end do
      close (out)
    end if
    if (wrong /= 0) stop 1
  end subroutine
end module
