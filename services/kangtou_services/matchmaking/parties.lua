#!lua name=kangtou_parties
-- One party ({y:<code>}). Functions give the code of a refusal alone, or the fields of the party.

local function members(key)
  local found, count = {}, 0
  for account in string.gmatch(redis.call('HGET', key, 'members') or '', '%S+') do
    found[account] = true
    count = count + 1
  end
  return found, count
end

local function fields(key)
  return redis.call('HGETALL', key)
end

-- args: pool, account, how long to keep it.
local function create(keys, args)
  if redis.call('HSETNX', keys[1], 'pool', args[1]) == 1 then
    redis.call('HSET', keys[1], 'members', args[2])
    redis.call('PEXPIRE', keys[1], args[3])
  end
  return 1
end

-- args: account, most, how long to keep it.
local function join(keys, args)
  local held, count = members(keys[1])
  if count == 0 then return {'unknown_party'} end
  if redis.call('HEXISTS', keys[1], 'over') == 1 then return {'party_over'} end
  if not held[args[1]] then
    if count >= tonumber(args[2]) then return {'party_full'} end
    redis.call('HSET', keys[1], 'members', redis.call('HGET', keys[1], 'members') .. ' ' .. args[1])
    redis.call('PEXPIRE', keys[1], args[3])
  end
  return fields(keys[1])
end

-- args: account, ref, how many a party has, how long to keep it.
local function enter(keys, args)
  local held, count = members(keys[1])
  if count == 0 then return {'unknown_party'} end
  if not held[args[1]] then return {'not_in_party'} end
  if redis.call('HEXISTS', keys[1], 'over') == 1 then return {'party_over'} end
  if count < tonumber(args[3]) then return {'party_alone'} end
  redis.call('HSET', keys[1], 'ref:' .. args[1], args[2])
  redis.call('PEXPIRE', keys[1], args[4])
  return fields(keys[1])
end

-- args: account.
local function leave(keys, args)
  local held, count = members(keys[1])
  if count == 0 then return {'unknown_party'} end
  if not held[args[1]] then return {'not_in_party'} end
  redis.call('HSET', keys[1], 'over', 1)
  return fields(keys[1])
end

redis.register_function('kt_party_create_1', create)
redis.register_function('kt_party_join_1', join)
redis.register_function('kt_party_enter_1', enter)
redis.register_function('kt_party_leave_1', leave)
