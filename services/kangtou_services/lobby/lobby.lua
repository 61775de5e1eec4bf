#!lua name=kangtou_lobby
-- Tables of the lobby: steps on the keys of one table ({t:<table>}:…). Named with versions, so that processes of two
-- releases can share a server. The keys are
--   1 table      hash: v version, doc text
--   2 commands   hash: account/command -> answer

local function keep(keys, ms)
  redis.call('PEXPIRE', keys[1], ms)
  redis.call('PEXPIRE', keys[2], ms)
end

-- args: doc, ms to keep it. Returns 1 if it is new.
local function create(keys, args)
  if redis.call('EXISTS', keys[1]) == 1 then return 0 end
  redis.call('HSET', keys[1], 'v', 1, 'doc', args[1])
  redis.call('PEXPIRE', keys[1], args[2])
  return 1
end

-- args: the version that was read, doc ('': it does not change), ms to keep it, command ('': none), answer.
-- Returns 1 if it is done, 0 if the version has passed or the command is known.
local function put(keys, args)
  if redis.call('HGET', keys[1], 'v') ~= args[1] then return 0 end
  if args[4] ~= '' and redis.call('HSETNX', keys[2], args[4], args[5]) == 0 then return 0 end
  if args[2] ~= '' then
    redis.call('HSET', keys[1], 'doc', args[2])
    redis.call('HINCRBY', keys[1], 'v', 1)
  end
  keep(keys, args[3])
  return 1
end

-- args: version. Returns 1 if it is gone.
local function forget(keys, args)
  local version = redis.call('HGET', keys[1], 'v')
  if version and version ~= args[1] then return 0 end
  redis.call('DEL', keys[1], keys[2])
  return 1
end

-- key: sorted set of an account's tables. args: table, most, now, ms to keep it. Returns 1 if the table counts.
local function hold(keys, args)
  if not redis.call('ZSCORE', keys[1], args[1]) then
    if redis.call('ZCARD', keys[1]) >= tonumber(args[2]) then return 0 end
    redis.call('ZADD', keys[1], args[3], args[1])
  end
  redis.call('PEXPIRE', keys[1], args[4])
  return 1
end

redis.register_function('kt_table_create_2', create)
redis.register_function('kt_table_put_2', put)
redis.register_function('kt_table_forget_2', forget)
redis.register_function('kt_table_hold_2', hold)
