#!lua name=kangtou
-- What has to happen in one step on the server. A function touches the keys of one hash slot only and is named with
-- its version, so that processes of two releases can share a server.

-- kt_claim_2: become the writer of a match (kt_claim_1: without the last key).
-- keys: log, owner, left. args: id and chain of the expected tail ('' and '' for no stream), the new owner,
-- then id, body, chain and rounds of the marker. Returns 1 if claimed (also when the very same claim is repeated).
local function claim(keys, args)
  local last = redis.call('XREVRANGE', keys[1], '+', '-', 'COUNT', 1)[1]
  local id, chain = '', ''
  if last then
    id = last[1]
    for i = 1, #last[2], 2 do
      if last[2][i] == 'h' then chain = last[2][i + 1] end
    end
  end
  if id == args[4] and chain == args[6] and redis.call('GET', keys[2]) == args[3] then
    return 1
  end
  if id ~= args[1] or chain ~= args[2] then
    return 0
  end
  redis.call('XADD', keys[1], args[4], 'b', args[5], 'h', args[6], 'r', args[7])
  redis.call('SET', keys[2], args[3], 'KEEPTTL')
  if keys[3] then redis.call('DEL', keys[3]) end
  return 1
end

-- kt_hand_on_1: name the next owner of a match that this one has stopped writing.
-- keys: owner, left. args: this owner, the next, the time in ms. Returns 1 if done, also by a repeat; else 0.
local function hand_on(keys, args)
  local owner = redis.call('GET', keys[1])
  if owner == args[2] then return 1 end
  if owner ~= args[1] or redis.call('PTTL', keys[1]) >= 0 then return 0 end
  redis.call('SET', keys[1], args[2])
  redis.call('SET', keys[2], args[3])
  return 1
end

-- kt_create_1: store agreement and seed of a match unless they are there.
-- keys: agreement, seed. args: both values. Returns 1 if stored, 0 if there, -1 if there and retired.
local function create(keys, args)
  if redis.call('EXISTS', keys[1]) == 1 then
    if redis.call('PTTL', keys[1]) >= 0 then return -1 end
    return 0
  end
  redis.call('SET', keys[1], args[1])
  redis.call('SET', keys[2], args[2])
  return 1
end

redis.register_function('kt_claim_1', claim)
redis.register_function('kt_claim_2', claim)
redis.register_function('kt_hand_on_1', hand_on)
redis.register_function('kt_create_1', create)
