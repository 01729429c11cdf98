-- Removes a tenant's oldest requests until the log has at most so many bytes.
-- KEYS[1] log   KEYS[2] tally
-- ARGV[1] most bytes kept   ARGV[2] most ticks removed in this call
-- Reply: bytes kept
-- Errors: arguments of another form: nothing was written.
-- A whole number that Redis and Lua both take; nil for anything else.
local function whole(text)
  return text and #text <= 15 and tonumber(string.match(text, '^%d+$')) or nil
end

local most, ticks = whole(ARGV[1]), whole(ARGV[2])
if #KEYS ~= 2 or not most or not ticks then return redis.error_reply('ERR the arguments are no bounds') end
local bytes = tonumber(redis.call('HGET', KEYS[2], 'bytes') or '0')
for _ = 1, ticks do
  if bytes <= most then break end
  local oldest = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 1)[1]
  if not oldest then break end
  redis.call('XDEL', KEYS[1], oldest[1])
  redis.call('HINCRBY', KEYS[2], 'entries', -tonumber(oldest[2][2]))
  bytes = redis.call('HINCRBY', KEYS[2], 'bytes', -#oldest[2][4])
end
return bytes
