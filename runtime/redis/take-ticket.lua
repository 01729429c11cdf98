#!lua flags=allow-oom
-- Gives out a number that is above all that were given out before. Also when memory is full, or no node could register.
--
-- KEYS[1]: `{runtime}:tickets`, the last number
-- Reply: the number
-- Errors: READONLY, MISCONF and the like: nothing was changed.

return redis.call('INCR', KEYS[1])
