"""What operators want of all processes of a server: who is to be drained, whether it is under maintenance."""

from .base import DRAIN, STOP, Maintenance, Orders
from .memory import MemoryOrders
from .redis import RedisOrders

__all__ = ["DRAIN", "STOP", "Maintenance", "MemoryOrders", "Orders", "RedisOrders"]
