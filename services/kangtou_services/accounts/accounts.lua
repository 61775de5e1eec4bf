#!lua name=kangtou_accounts
-- Accounts: steps on the keys of one account ({a:<account>}:…). Tokens and codes arrive as hashes. Named with versions,
-- so that processes of two releases can share a server.

local function add_token(key, token, expires, now, most)
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now)
  redis.call('ZADD', key, expires, token)
  local over = redis.call('ZCARD', key) - tonumber(most)
  if over > 0 then redis.call('ZREMRANGEBYRANK', key, 0, over - 1) end
end

-- keys: account, tokens, codes. args: name, kind, roles, now, token, expires, code, most tokens, most codes.
local function admit(keys, args)
  if redis.call('HEXISTS', keys[1], 'deleted') == 1 then return {false, false, false} end
  if redis.call('EXISTS', keys[1]) == 0 then
    redis.call('HSET', keys[1], 'name', args[1], 'kind', args[2], 'roles', args[3], 'created_ms', args[4])
  end
  add_token(keys[2], args[5], args[6], args[4], args[8])
  local number = redis.call('HINCRBY', keys[1], 'codes', 1)
  redis.call('HSET', keys[3], args[7], number)
  if redis.call('HLEN', keys[3]) > tonumber(args[9]) then
    local held, oldest, least = redis.call('HGETALL', keys[3]), nil, nil
    for i = 1, #held, 2 do
      local at = tonumber(held[i + 1]) or 0
      if not least or at < least then oldest, least = held[i], at end
    end
    redis.call('HDEL', keys[3], oldest)
  end
  return redis.call('HMGET', keys[1], 'name', 'kind', 'roles')
end

-- keys: tokens. args: old, its end, new, expires, now, most tokens.
local function swap(keys, args)
  local ends = redis.call('ZSCORE', keys[1], args[1])
  if not ends or tonumber(ends) <= tonumber(args[5]) then return 0 end
  redis.call('ZADD', keys[1], 'LT', args[2], args[1])
  add_token(keys[1], args[3], args[4], args[5], args[6])
  return 1
end

-- keys: tokens, codes. args: code, command, until when a repeat may come, new code, token, expires, now.
local function recover(keys, args)
  local held = redis.call('HGET', keys[2], args[1])
  if not held then return 0 end
  local command, till = string.match(held, '^used (%S+) (%d+)$')
  if command and (command ~= args[2] or tonumber(till) <= tonumber(args[7])) then return 0 end
  redis.call('DEL', keys[1], keys[2])
  redis.call('HSET', keys[2], args[1], 'used ' .. args[2] .. ' ' .. (till or args[3]), args[4], 1)
  redis.call('ZADD', keys[1], args[6], args[5])
  return 1
end

-- keys: account. args: roles with commas.
local function roles(keys, args)
  if redis.call('HEXISTS', keys[1], 'name') == 0 then return 0 end
  redis.call('HSET', keys[1], 'roles', args[1])
  return 1
end

-- keys: account, tokens, codes. args: now. What stays keeps the id from being given again.
local function delete(keys, args)
  local since = redis.call('HGET', keys[1], 'deleted') or args[1]
  redis.call('DEL', keys[1], keys[2], keys[3])
  redis.call('HSET', keys[1], 'deleted', since)
  return 1
end

redis.register_function('kt_account_admit_1', admit)
redis.register_function('kt_account_delete_1', delete)
redis.register_function('kt_account_swap_1', swap)
redis.register_function('kt_account_recover_1', recover)
redis.register_function('kt_account_roles_1', roles)
