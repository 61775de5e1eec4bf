"""Accounts: registration, tokens, recovery codes; stored in Redis or in memory."""

from .accounts import Accounts, AccountSettings
from .base import AccountStore
from .memory import MemoryAccountStore
from .redis import RedisAccountStore

__all__ = ["AccountSettings", "AccountStore", "Accounts", "MemoryAccountStore", "RedisAccountStore"]
