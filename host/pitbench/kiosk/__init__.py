"""A kiosk: takes notes, coupons and vouchers from a bill acceptor, and credits each exactly once."""
