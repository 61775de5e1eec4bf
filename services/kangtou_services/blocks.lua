#!lua name=kangtou_blocks
-- Blocks of one account ({a:<account>}:blocks).

-- keys: blocks. args: whom, now, most. Returns 1, or 0 if there are too many.
local function block(keys, args)
  if redis.call('ZSCORE', keys[1], args[1]) then return 1 end
  if redis.call('ZCARD', keys[1]) >= tonumber(args[3]) then return 0 end
  redis.call('ZADD', keys[1], args[2], args[1])
  return 1
end

redis.register_function('kt_block_1', block)
