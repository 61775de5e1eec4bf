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
--  12 asked     hash: match -> until when they may answer, and `ref=1` or `ref=0` by seat
local CONFIG, TICKETS, STATES, QUEUE, SEEN, ENDED, HELD, OFFERS, SEATS, COUNTERS, LEASE = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
local ASKED = 12
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

-- Who is asked about a match: {until when, refs by seat, which of them have accepted, how many that is}; nil if nobody.
local function asked_of(keys, match)
  local held = redis.call('HGET', keys[ASKED], match)
  if not held then return nil end
  local asked = {by = string.match(held, '^(%d+)'), refs = {}, yes = {}, count = 0}
  for ref, mark in string.gmatch(held, '(%S+)=([01])') do
    table.insert(asked.refs, ref)
    if mark == '1' then
      asked.yes[ref] = true
      asked.count = asked.count + 1
    end
  end
  return asked
end

local function put_asked(keys, match, asked)
  local parts = {asked.by}
  for _, ref in ipairs(asked.refs) do table.insert(parts, ref .. '=' .. (asked.yes[ref] and '1' or '0')) end
  redis.call('HSET', keys[ASKED], match, table.concat(parts, ' '))
end

local function status(keys, it)
  local by, accepted = 0, 0
  if it.state == 'offered' or it.state == 'accepted' then
    local asked = asked_of(keys, it.match)
    if asked then by, accepted = asked.by, asked.count end
  end
  return {it.state, it.match, it.seat, redis.call('ZCARD', keys[QUEUE]), by, accepted}
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

-- Those in `gone` leave with a state, the others wait again.
local function dissolve(keys, match, asked, gone, now)
  redis.call('HDEL', keys[ASKED], match)
  for _, ref in ipairs(asked.refs) do
    local it = state_of(keys, ref)
    if gone[ref] then
      stop_waiting(keys, ref, it, gone[ref], now)
    else
      it.match, it.seat = '', -1
      hold(keys, account_of(ref), -1)
      wait(keys, ref, it, now)
    end
  end
  news(keys)
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
  elseif it.state == 'offered' or it.state == 'accepted' then
    dissolve(keys, it.match, asked_of(keys, it.match), {[args[1]] = 'declined'}, args[2])
    it = state_of(keys, args[1])
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

-- args: most tickets. Returns config, texts of tickets that wait, offers with texts by seat, seats, who is asked.
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
  return {redis.call('GET', keys[CONFIG]) or '', waiting, offers, redis.call('HGETALL', keys[SEATS]),
    redis.call('HGETALL', keys[ASKED])}
end

-- args: fence, match, now, until when they may answer (0: they are not asked), refs by seat. Returns 1 if the offer
-- stands (also when repeated), 0 if not.
local function offer(keys, args)
  if redis.call('HEXISTS', keys[OFFERS], args[2]) == 1 or redis.call('HEXISTS', keys[ASKED], args[2]) == 1 then
    return 1
  end
  if fenced(keys, args[1]) then return 0 end
  local found, seen = {}, {}
  for i = 5, #args do
    local it = state_of(keys, args[i])
    if not it or it.state ~= 'waiting' or seen[args[i]] then return 0 end
    seen[args[i]] = true
    table.insert(found, it)
  end
  for seat, it in ipairs(found) do
    local ref = args[seat + 4]
    redis.call('ZREM', keys[QUEUE], ref)
    redis.call('ZREM', keys[SEEN], ref)
    it.state, it.match, it.seat = args[4] == '0' and 'matched' or 'offered', args[2], seat - 1
    put(keys, ref, it)
  end
  if args[4] == '0' then
    redis.call('HSET', keys[OFFERS], args[2], args[3] .. ' ' .. table.concat(args, ' ', 5))
  else
    local asked = {by = args[4], refs = {}, yes = {}}
    for i = 5, #args do table.insert(asked.refs, args[i]) end
    put_asked(keys, args[2], asked)
  end
  news(keys)
  return 1
end

-- args: ref, match, 1 to accept or 0, now. Returns a status, or {} if that match is not offered to it now.
local function answer(keys, args)
  local ref, match, accept, now = args[1], args[2], args[3] == '1', args[4]
  local it, asked = state_of(keys, ref), asked_of(keys, match)
  if not it or it.match ~= match then return {} end
  if not asked then -- a repeat, or over
    local done = accept and (it.state == 'matched' or it.state == 'ready') or not accept and it.state == 'declined'
    return done and status(keys, it) or {}
  end
  if not accept then
    dissolve(keys, match, asked, {[ref] = 'declined'}, now)
    return status(keys, state_of(keys, ref))
  end
  if it.state == 'offered' and tonumber(now) > tonumber(asked.by) then return {} end
  if not asked.yes[ref] then
    asked.yes[ref] = true
    asked.count = asked.count + 1
  end
  it.state = 'accepted'
  put(keys, ref, it)
  if asked.count < #asked.refs then
    put_asked(keys, match, asked)
  else
    redis.call('HDEL', keys[ASKED], match)
    redis.call('HSET', keys[OFFERS], match, now .. ' ' .. table.concat(asked.refs, ' '))
    for _, one in ipairs(asked.refs) do
      local other = state_of(keys, one)
      other.state = 'matched'
      put(keys, one, other)
    end
    it.state = 'matched'
  end
  news(keys)
  return status(keys, it)
end

-- args: match, now. Returns the refs that have not answered in time.
local function expire(keys, args)
  local asked, missed, gone = asked_of(keys, args[1]), {}, {}
  if not asked or tonumber(args[2]) <= tonumber(asked.by) then return missed end
  for _, ref in ipairs(asked.refs) do
    if not asked.yes[ref] then
      table.insert(missed, ref)
      gone[ref] = 'missed'
    end
  end
  dissolve(keys, args[1], asked, gone, args[2])
  return missed
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

redis.register_function('kt_pool_enqueue_2', enqueue)
redis.register_function('kt_pool_refresh_2', refresh)
redis.register_function('kt_pool_cancel_2', cancel)
redis.register_function('kt_pool_leave_2', leave)
redis.register_function('kt_pool_lease_2', lease)
redis.register_function('kt_pool_release_2', release)
redis.register_function('kt_pool_prune_2', prune)
redis.register_function('kt_pool_look_2', look)
redis.register_function('kt_pool_offer_2', offer)
redis.register_function('kt_pool_answer_2', answer)
redis.register_function('kt_pool_expire_2', expire)
redis.register_function('kt_pool_ready_2', ready)
redis.register_function('kt_pool_free_2', free)
