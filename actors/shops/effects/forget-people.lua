#!lua flags=allow-oom
-- Drops old entries from the map of a tenant's people, some at a time. Call it with the returned cursor until that is 0.
-- The age of an entry is checked as it is dropped, since people write meanwhile. An entry of 0.2.0 has no day, and
-- gets that of the first look.
--
-- KEYS: the hash, each value ending in the day on which it last counted.
-- ARGV: the cursor, at first 0; the oldest day that is kept; today; how many fields a step reads.
-- Reply: the next cursor.
-- Errors: arguments of another form; nothing was changed. Otherwise a broken call could mark the day as done.

-- A whole number that Redis and Lua both take; nil for anything else.
local function whole(text)
  return text and #text <= 15 and tonumber(string.match(text, '^%d+$')) or nil
end

local people, cursor, today = KEYS[1], ARGV[1], ARGV[3]
local oldest, most = whole(ARGV[2]), whole(ARGV[4])
local isCursor = cursor and string.match(cursor, '^%d+$')
if #KEYS ~= 1 or not isCursor or not oldest or not whole(today) or not most or most == 0 then
  return redis.error_reply('ERR the arguments are no step of the search')
end

if cursor == '0' then
  if redis.call('EXISTS', people) == 0 then return '0' end
  -- Several shops of the tenant may ask on one day.
  if redis.call('HGET', people, 'swept') == 'on ' .. today then return '0' end
  redis.call('HSET', people, 'swept', 'on ' .. today)
end

local found = redis.call('HSCAN', people, cursor, 'COUNT', most)
for index = 1, #found[2], 2 do
  local field, entry = found[2][index], found[2][index + 1]
  local day = tonumber(string.match(entry, ' (%d+)$'))
  if not day then
    redis.call('HSET', people, field, entry .. ' ' .. today)
  elseif day < oldest then
    redis.call('HDEL', people, field)
  end
end
return found[1]
