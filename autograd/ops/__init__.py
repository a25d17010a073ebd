"""Operations: one file per family, derivative rules only."""
