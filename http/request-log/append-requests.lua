-- Appends one tick's requests of a tenant to its log and removes entries beyond the log's bounds.
-- KEYS[1] log, a stream of packed ticks   KEYS[2] tally, a hash of entries and bytes
-- ARGV[1] how many entries   ARGV[2] the entries packed   ARGV[3] most entries kept   ARGV[4] longest age in ms
-- Reply: { id of the tick in the stream, bytes kept }
-- Errors: arguments of another form: nothing was written.
-- A whole number above zero that Redis and Lua both take; nil for anything else. Redis takes no leading zero.
local function whole(text)
  return text and #text <= 15 and tonumber(string.match(text, '^[1-9]%d*$')) or nil
end

local count, most, ageMs = whole(ARGV[1]), whole(ARGV[3]), whole(ARGV[4])
if #KEYS ~= 2 or not count or not most or not ageMs then
  return redis.error_reply('ERR the arguments are no requests')
end
local id = redis.call('XADD', KEYS[1], '*', 'n', ARGV[1], 'c', ARGV[2])
local entries = redis.call('HINCRBY', KEYS[2], 'entries', ARGV[1])
local bytes = redis.call('HINCRBY', KEYS[2], 'bytes', #ARGV[2])
local oldestKept = tonumber(string.match(id, '^%d+')) - ageMs
-- One tick is added a call, so giving up at most eight keeps every call short and still catches up.
for _ = 1, 8 do
  local oldest = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 1)[1]
  local inTick, packed = tonumber(oldest[2][2]), oldest[2][4]
  local tooOld = tonumber(string.match(oldest[1], '^%d+')) < oldestKept
  if not tooOld and entries - inTick < most then break end
  redis.call('XDEL', KEYS[1], oldest[1])
  entries = redis.call('HINCRBY', KEYS[2], 'entries', -inTick)
  bytes = redis.call('HINCRBY', KEYS[2], 'bytes', -#packed)
  if entries <= 0 then break end
end
-- A tenant that stops calling leaves nothing behind.
redis.call('PEXPIRE', KEYS[1], ARGV[4])
redis.call('PEXPIRE', KEYS[2], ARGV[4])
return { id, bytes }
