"""hub.load_state_dict_from_url by its older name."""

from ..compat.hub import load_state_dict_from_url

load_url = load_state_dict_from_url
