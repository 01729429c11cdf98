#!lua flags=allow-oom
-- Returns a number that is higher than all numbers before. It also runs when memory is full. Otherwise no node could
-- register.
--
-- KEYS[1]: `{runtime}:tickets`, the last number
-- Reply: the number
-- Errors: READONLY, MISCONF and the like: nothing was changed.

return redis.call('INCR', KEYS[1])
