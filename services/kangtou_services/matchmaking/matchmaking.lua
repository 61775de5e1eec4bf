#!lua name=kangtou_matchmaking
-- Pools: steps on the keys of one pool ({p:<pool>}:…). Named with versions, so that processes of two releases can share
-- a server. All get the same keys:
--   1 config    text
--   2 tickets   hash: ref -> text. A ref is account/ticket
--   3 states    hash: ref -> state|order|stream|match|seat
--   4 queue     sorted set: refs that wait, by order
--   5 seen      sorted set: the same, by their last sign of life
--   6 ended     sorted set: refs that do not wait and are in no offer, by when that came
--   7 held      hash: account -> its tickets in the queue and in offers, and its seats
--   8 offers    hash: match -> time and refs by seat
--   9 seats     hash: match -> time and accounts by seat
--  10 counters  hash: order, fence
--  11 lease     its holder
local CONFIG, TICKETS, STATES, QUEUE, SEEN, ENDED, HELD, OFFERS, SEATS, COUNTERS, LEASE = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
local KEEP_MS = 7 * 24 * 3600 * 1000
local NEWS = 'kt:pools:news'

local function state_of(keys, ref)
  local held = redis.call('HGET', keys[STATES], ref)
  if not held then return nil end
  local state, order, stream, match, seat = string.match(held, '^(%a+)|(%d+)|([^|]*)|([^|]*)|(-?%d+)$')
  return {state = state, order = order, stream = stream, match = match, seat = seat}
end

local function put(keys, ref, it)
  redis.call('HSET', keys[STATES], ref, table.concat({it.state, it.order, it.stream, it.match, it.seat}, '|'))
end

local function status(keys, it)
  return {it.state, it.match, it.seat, redis.call('ZCARD', keys[QUEUE])}
end

local function account_of(ref)
  return string.match(ref, '^([^/]+)/')
end

local function hold(keys, account, by)
  if redis.call('HINCRBY', keys[HELD], account, by) <= 0 then redis.call('HDEL', keys[HELD], account) end
end

local function news(keys)
  redis.call('PUBLISH', NEWS, string.match(keys[CONFIG], '^{p:(.-)}'))
end

local function wait(keys, ref, it, now)
  redis.call('ZADD', keys[QUEUE], it.order, ref)
  redis.call('ZADD', keys[SEEN], now, ref)
  redis.call('ZREM', keys[ENDED], ref)
  it.state = 'waiting'
  put(keys, ref, it)
  hold(keys, account_of(ref), 1)
end

local function stop_waiting(keys, ref, it, state, now)
  redis.call('ZREM', keys[QUEUE], ref)
  redis.call('ZREM', keys[SEEN], ref)
  redis.call('ZADD', keys[ENDED], now, ref)
  it.state = state
  put(keys, ref, it)
  hold(keys, account_of(ref), -1)
end

-- args: config, ref, ticket, stream, most of the account, most of the pool, now.
-- Returns a status, or why there is no place.
local function enqueue(keys, args)
  local ref, stream, now = args[2], args[4], args[7]
  local it = state_of(keys, ref)
  if it and it.state == 'waiting' then
    it.stream = stream
    put(keys, ref, it)
    redis.call('ZADD', keys[SEEN], now, ref)
  end
  if it and it.state ~= 'left' and it.state ~= 'silent' then return status(keys, it) end
  if tonumber(redis.call('HGET', keys[HELD], account_of(ref)) or 0) >= tonumber(args[5]) then return {'held'} end
  if redis.call('ZCARD', keys[QUEUE]) >= tonumber(args[6]) then return {'full'} end
  it = it or {order = redis.call('HINCRBY', keys[COUNTERS], 'order', 1), match = '', seat = -1}
  it.stream = stream
  redis.call('SET', keys[CONFIG], args[1])
  redis.call('HSET', keys[TICKETS], ref, args[3])
  wait(keys, ref, it, now)
  for i = 1, #keys do
    if i ~= LEASE then redis.call('PEXPIRE', keys[i], KEEP_MS) end
  end
  news(keys)
  return status(keys, it)
end

-- args: now, then ref and stream of each. Returns statuses, each with its ref in front.
local function refresh(keys, args)
  local found = {}
  for i = 2, #args, 2 do
    local it = state_of(keys, args[i])
    if it then
      if it.state == 'waiting' and it.stream == args[i + 1] then redis.call('ZADD', keys[SEEN], args[1], args[i]) end
      local row = status(keys, it)
      table.insert(row, 1, args[i])
      table.insert(found, row)
    end
  end
  return found
end

-- args: ref, now. Returns a status.
local function cancel(keys, args)
  local it = state_of(keys, args[1])
  if not it then
    it = {state = 'cancelled', order = 0, stream = '', match = '', seat = -1}
    put(keys, args[1], it)
    redis.call('ZADD', keys[ENDED], args[2], args[1])
  elseif it.state == 'waiting' then
    stop_waiting(keys, args[1], it, 'cancelled', args[2])
    news(keys)
  elseif it.state == 'left' or it.state == 'silent' then
    it.state = 'cancelled'
    put(keys, args[1], it)
    news(keys)
  end
  return status(keys, it)
end

-- args: ref, stream, now.
local function leave(keys, args)
  local it = state_of(keys, args[1])
  if it and it.state == 'waiting' and it.stream == args[2] then
    stop_waiting(keys, args[1], it, 'left', args[3])
    news(keys)
    return 1
  end
  return 0
end

-- args: holder, ms. Returns a fencing number, 0 if somebody else has the lease.
local function lease(keys, args)
  local holder = redis.call('GET', keys[LEASE])
  if holder and holder ~= args[1] then return 0 end
  redis.call('SET', keys[LEASE], args[1], 'PX', args[2])
  return redis.call('HINCRBY', keys[COUNTERS], 'fence', 1)
end

-- args: holder.
local function release(keys, args)
  if redis.call('GET', keys[LEASE]) == args[1] then redis.call('DEL', keys[LEASE]) end
  return 1
end

local function fenced(keys, number)
  return redis.call('HGET', keys[COUNTERS], 'fence') ~= number
end

-- args: fence, silent before, ended before, now. Returns how many fell silent.
local function prune(keys, args)
  if fenced(keys, args[1]) then return 0 end
  local silent = redis.call('ZRANGEBYSCORE', keys[SEEN], '-inf', '(' .. args[2])
  for _, ref in ipairs(silent) do
    local it = state_of(keys, ref)
    if it then
      stop_waiting(keys, ref, it, 'silent', args[4])
    else
      redis.call('ZREM', keys[SEEN], ref)
      redis.call('ZREM', keys[QUEUE], ref)
    end
  end
  for _, ref in ipairs(redis.call('ZRANGEBYSCORE', keys[ENDED], '-inf', '(' .. args[3], 'LIMIT', 0, 1000)) do
    redis.call('HDEL', keys[STATES], ref)
    redis.call('HDEL', keys[TICKETS], ref)
    redis.call('ZREM', keys[ENDED], ref)
  end
  if #silent > 0 then news(keys) end
  return #silent
end

-- args: most tickets. Returns config, texts of tickets that wait, offers with texts by seat, seats.
local function look(keys, args)
  local waiting, offers = {}, {}
  for _, ref in ipairs(redis.call('ZRANGE', keys[QUEUE], 0, tonumber(args[1]) - 1)) do
    table.insert(waiting, redis.call('HGET', keys[TICKETS], ref))
  end
  local held = redis.call('HGETALL', keys[OFFERS])
  for i = 1, #held, 2 do
    local row = {held[i]}
    for part in string.gmatch(held[i + 1], '%S+') do
      table.insert(row, #row == 1 and part or redis.call('HGET', keys[TICKETS], part))
    end
    table.insert(offers, row)
  end
  return {redis.call('GET', keys[CONFIG]) or '', waiting, offers, redis.call('HGETALL', keys[SEATS])}
end

-- args: fence, match, now, refs by seat. Returns 1 if the offer stands (also when repeated), 0 if not.
local function offer(keys, args)
  if redis.call('HEXISTS', keys[OFFERS], args[2]) == 1 then return 1 end
  if fenced(keys, args[1]) then return 0 end
  local found, seen = {}, {}
  for i = 4, #args do
    local it = state_of(keys, args[i])
    if not it or it.state ~= 'waiting' or seen[args[i]] then return 0 end
    seen[args[i]] = true
    table.insert(found, it)
  end
  for seat, it in ipairs(found) do
    local ref = args[seat + 3]
    redis.call('ZREM', keys[QUEUE], ref)
    redis.call('ZREM', keys[SEEN], ref)
    it.state, it.match, it.seat = 'matched', args[2], seat - 1
    put(keys, ref, it)
  end
  redis.call('HSET', keys[OFFERS], args[2], args[3] .. ' ' .. table.concat(args, ' ', 4))
  news(keys)
  return 1
end

-- args: match, now. Returns 1 if it was an offer until now.
local function ready(keys, args)
  local held = redis.call('HGET', keys[OFFERS], args[1])
  if not held then return 0 end
  local accounts = {args[2]}
  for ref in string.gmatch(string.match(held, ' (.*)$'), '%S+') do
    local it = state_of(keys, ref)
    it.state = 'ready'
    put(keys, ref, it)
    redis.call('ZADD', keys[ENDED], args[2], ref)
    table.insert(accounts, account_of(ref))
  end
  redis.call('HDEL', keys[OFFERS], args[1])
  redis.call('HSET', keys[SEATS], args[1], table.concat(accounts, ' '))
  redis.call('PEXPIRE', keys[SEATS], KEEP_MS)
  redis.call('PEXPIRE', keys[ENDED], KEEP_MS)
  news(keys)
  return 1
end

-- args: matches. Returns how many had seats.
local function free(keys, args)
  local freed = 0
  for _, match in ipairs(args) do
    local held = redis.call('HGET', keys[SEATS], match)
    if held then
      for account in string.gmatch(string.match(held, ' (.*)$'), '%S+') do hold(keys, account, -1) end
      redis.call('HDEL', keys[SEATS], match)
      freed = freed + 1
    end
  end
  return freed
end

redis.register_function('kt_pool_enqueue_1', enqueue)
redis.register_function('kt_pool_refresh_1', refresh)
redis.register_function('kt_pool_cancel_1', cancel)
redis.register_function('kt_pool_leave_1', leave)
redis.register_function('kt_pool_lease_1', lease)
redis.register_function('kt_pool_release_1', release)
redis.register_function('kt_pool_prune_1', prune)
redis.register_function('kt_pool_look_1', look)
redis.register_function('kt_pool_offer_1', offer)
redis.register_function('kt_pool_ready_1', ready)
redis.register_function('kt_pool_free_1', free)
