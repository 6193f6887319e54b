"""What running programs do, from the memory-mapped files of their run directories."""
