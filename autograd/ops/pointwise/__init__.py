"""Operations that treat each element alike."""
