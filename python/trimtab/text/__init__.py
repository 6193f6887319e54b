"""What a terminal shows. Import the module that is needed: `verdict` alone starts quickly, tables need rich."""
