#!lua name=kangtou_penalties
-- Declined matches of one account ({d:<account>}).

-- keys: the account's. args: match, now, how long to remember, first wait, longest wait. Returns until when it waits.
local function declined(keys, args)
  if redis.call('HSETNX', keys[1], 'match:' .. args[1], 1) == 1 then
    local count = redis.call('HINCRBY', keys[1], 'count', 1)
    local wait = count < 2 and 0 or math.min(tonumber(args[5]), tonumber(args[4]) * 2 ^ math.min(count - 2, 16))
    redis.call('HSET', keys[1], 'until', string.format('%.0f', tonumber(args[2]) + wait))
    redis.call('PEXPIRE', keys[1], args[3])
  end
  return redis.call('HGET', keys[1], 'until')
end

redis.register_function('kt_declined_1', declined)
