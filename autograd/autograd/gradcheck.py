"""torch.autograd.gradcheck: the checkers of derivatives."""

from ..transforms.gradcheck import GradcheckError, gradcheck, gradgradcheck

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]
