#!lua flags=allow-oom
-- Replaces an entry, unless it was removed meanwhile.
-- KEYS[1] entries by id   ARGV[1] id   ARGV[2] the entry with marks instead of ids
-- Reply: 1 when it was replaced
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 1
