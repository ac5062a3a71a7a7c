"""The paper's figures again: vector and PNG with the same bytes every time, data as CSV beside."""
