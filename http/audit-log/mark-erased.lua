#!lua flags=allow-oom
-- Stores the mark of an erased tenant, shop or person, with the time of Redis's clock. Entries that are begun later
-- find it. It runs on a full Redis too, because an erasure frees memory.
-- KEYS[1] marks of what was erased   ARGV[1] mark
-- Reply: 1 when the mark is new
return redis.call('ZADD', KEYS[1], redis.call('TIME')[1] * 1000, ARGV[1])
