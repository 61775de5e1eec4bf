#!lua name=kangtou_lobby
-- Tables of the lobby: steps on the keys of one table ({t:<table>}:…). Named with versions, so that processes of two
-- releases can share a server. The keys are
--   1 table      hash: choice, seats, state, opened, since, taken; s<seat> -> member; a:<account> -> seat
--   2 commands   hash: account/command -> code seat content
local OPEN_KEEP_MS, PLAY_KEEP_MS, OVER_KEEP_MS = 24 * 3600 * 1000, 7 * 24 * 3600 * 1000, 3600 * 1000

local function keep(keys, ms)
  redis.call('PEXPIRE', keys[1], ms)
  redis.call('PEXPIRE', keys[2], ms)
end

-- args: choice, seats, now. Returns 1 if it is new.
local function create(keys, args)
  if redis.call('EXISTS', keys[1]) == 1 then return 0 end
  redis.call('HSET', keys[1], 'choice', args[1], 'seats', args[2], 'state', 'open', 'opened', args[3], 'since', args[3],
    'taken', 0)
  keep(keys, OPEN_KEEP_MS)
  return 1
end

-- What a command got before: code and seat, or nothing.
local function first_answer(keys, command, content, most)
  if redis.call('EXISTS', keys[1]) == 0 then return {'unknown_table', -1} end
  local before = redis.call('HGET', keys[2], command)
  if before then
    local code, seat, was = string.match(before, '^(%S+) (-?%d+) (.*)$')
    if was ~= content then return {'id_reused', -1} end
    return {code, seat}
  end
  if redis.call('HLEN', keys[2]) >= tonumber(most) then return {'too_many_commands', -1} end
  return nil
end

local function answer(keys, command, content, code, seat)
  redis.call('HSET', keys[2], command, code .. ' ' .. seat .. ' ' .. content)
  keep(keys, redis.call('PTTL', keys[1]))
  return {code, seat}
end

local function free_seat(keys, wanted, seats)
  if wanted >= 0 then
    if wanted >= seats then return 'bad_seat', -1 end
    if redis.call('HEXISTS', keys[1], 's' .. wanted) == 1 then return 'seat_taken', wanted end
    return 'ok', wanted
  end
  for seat = 0, seats - 1 do
    if redis.call('HEXISTS', keys[1], 's' .. seat) == 0 then return 'ok', seat end
  end
  return 'table_full', -1
end

-- args: command, content, most commands, account, member, seat (-1: any), now.
local function sit(keys, args)
  local command, content, account = args[1], args[2], args[4]
  local before = first_answer(keys, command, content, args[3])
  if before then return before end
  if redis.call('HEXISTS', keys[1], 'a:' .. account) == 1 then
    return answer(keys, command, content, 'already_seated', -1)
  end
  if redis.call('HGET', keys[1], 'state') ~= 'open' then return answer(keys, command, content, 'table_full', -1) end
  local seats = tonumber(redis.call('HGET', keys[1], 'seats'))
  local code, seat = free_seat(keys, tonumber(args[6]), seats)
  if code ~= 'ok' then return answer(keys, command, content, code, seat) end
  redis.call('HSET', keys[1], 's' .. seat, args[5], 'a:' .. account, seat)
  if redis.call('HINCRBY', keys[1], 'taken', 1) == seats then
    redis.call('HSET', keys[1], 'state', 'full', 'since', args[7])
  end
  redis.call('PEXPIRE', keys[1], OPEN_KEEP_MS)
  return answer(keys, command, content, 'ok', seat)
end

-- args: command, content, most commands, account.
local function stand(keys, args)
  local command, content, account = args[1], args[2], args[4]
  local before = first_answer(keys, command, content, args[3])
  if before then return before end
  local seat = redis.call('HGET', keys[1], 'a:' .. account)
  if not seat then return answer(keys, command, content, 'not_seated', -1) end
  if redis.call('HGET', keys[1], 'state') ~= 'open' then return answer(keys, command, content, 'match_started', seat) end
  redis.call('HDEL', keys[1], 's' .. seat, 'a:' .. account)
  redis.call('HINCRBY', keys[1], 'taken', -1)
  return answer(keys, command, content, 'ok', seat)
end

-- args: state, now. Returns 1 if it moved.
local function move(keys, args)
  local from = ({playing = 'full', over = 'playing'})[args[1]]
  if not from or redis.call('HGET', keys[1], 'state') ~= from then return 0 end
  redis.call('HSET', keys[1], 'state', args[1], 'since', args[2])
  keep(keys, args[1] == 'over' and OVER_KEEP_MS or PLAY_KEEP_MS)
  return 1
end

-- args: 1 only if nobody sits there. Returns 1 if it is gone.
local function remove(keys, args)
  if args[1] == '1' and redis.call('EXISTS', keys[1]) == 1 then
    if redis.call('HGET', keys[1], 'taken') ~= '0' then return 0 end
  end
  redis.call('DEL', keys[1], keys[2])
  return 1
end

redis.register_function('kt_table_create_1', create)
redis.register_function('kt_table_sit_1', sit)
redis.register_function('kt_table_stand_1', stand)
redis.register_function('kt_table_move_1', move)
redis.register_function('kt_table_remove_1', remove)
