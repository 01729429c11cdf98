#!lua flags=allow-oom
-- Stores the outcome of a change, unless its entry was removed meanwhile.
-- KEYS[1] entries by id   KEYS[2] outcomes by id
-- ARGV[1] id   ARGV[2] outcome   ARGV[3] longest age in ms
-- Reply: 1 when it was written
-- Errors: arguments of another form: nothing was written.
if #KEYS ~= 2 or #ARGV ~= 3 or #ARGV[3] > 15 or not string.match(ARGV[3], '^[1-9]%d*$') then
  return redis.error_reply('ERR the arguments are no outcome')
end
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return 1
