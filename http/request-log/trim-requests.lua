-- Gives up a tenant's oldest requests until the log holds no more than so many bytes.
-- KEYS[1] log   KEYS[2] tally
-- ARGV[1] most bytes kept   ARGV[2] most ticks given up in this call
-- Reply: bytes kept
local bytes = tonumber(redis.call('HGET', KEYS[2], 'bytes') or '0')
for _ = 1, tonumber(ARGV[2]) do
  if bytes <= tonumber(ARGV[1]) then break end
  local oldest = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 1)[1]
  if not oldest then break end
  redis.call('XDEL', KEYS[1], oldest[1])
  redis.call('HINCRBY', KEYS[2], 'entries', -tonumber(oldest[2][2]))
  bytes = redis.call('HINCRBY', KEYS[2], 'bytes', -#oldest[2][4])
end
return bytes
