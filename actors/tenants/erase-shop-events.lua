#!lua flags=allow-oom
-- Takes one shop's entries out of a stream of its tenant, one step at a time: call it until it answers 0. XDEL only marks
-- entries, so the shop's would stay in memory and on disk. Instead each step copies some of the other entries, and the last
-- one puts the copy in the stream's place. Other shops add entries meanwhile.
-- An entry that names no shop, as earlier programs wrote tries of webhooks, may be the shop's and goes too. The others keep
-- their ids, and the stream the id it gave last, so that cursors stay as they were. What was erased no longer counts as
-- added: more added than there are says that entries were cut off, which readers may have missed.
-- Where the copy is made is stored with it: after a crash the next call goes on, and a second caller does no harm.
-- Also when memory is full: the copy is removed or takes the place of a larger stream.
--
-- KEYS: the stream; the copy; a hash with `shop id of last entry` by stream.
-- ARGV: the shop's id; how many entries a step looks at.
-- Reply: 1, there is more to do; 0, no entry of the shop is left.

local stream, copy, steps = KEYS[1], KEYS[2], KEYS[3]
local shop, most = ARGV[1], tonumber(ARGV[2])

local function finish()
  redis.call('UNLINK', copy)
  redis.call('HDEL', steps, stream)
  return 0
end

if redis.call('EXISTS', stream) == 0 then return finish() end
local step = redis.call('HGET', steps, stream)
local from = '-'
if step and string.sub(step, 1, #shop + 1) == shop .. ' ' then
  from = '(' .. string.sub(step, #shop + 2)
else
  redis.call('UNLINK', copy)
end

local entries = redis.call('XRANGE', stream, from, '+', 'COUNT', most)
for _, entry in ipairs(entries) do
  local fields = entry[2]
  for index = 1, #fields, 2 do
    if fields[index] == 's' and fields[index + 1] ~= shop then
      redis.call('XADD', copy, entry[1], unpack(fields))
      break
    end
  end
end
if #entries == most then
  redis.call('HSET', steps, stream, shop .. ' ' .. entries[most][1])
  return 1
end

-- Entries that were cut off the stream since they were copied go from the copy as well.
local oldest = redis.call('XRANGE', stream, '-', '+', 'COUNT', 1)
if oldest[1] then redis.call('XTRIM', copy, 'MINID', oldest[1][1]) else redis.call('UNLINK', copy) end
local erased = redis.call('XLEN', stream) - redis.call('XLEN', copy)
if erased == 0 then return finish() end
local info = redis.call('XINFO', 'STREAM', stream)
local facts = {}
for index = 1, #info, 2 do facts[info[index]] = info[index + 1] end
if redis.call('XLEN', copy) == 0 then
  redis.call('UNLINK', copy)
  redis.call('XADD', copy, facts['last-generated-id'], 't', '')
  redis.call('XTRIM', copy, 'MAXLEN', 0)
end
redis.call('XSETID', copy, facts['last-generated-id'], 'ENTRIESADDED', facts['entries-added'] - erased)
redis.call('UNLINK', stream)
redis.call('RENAME', copy, stream)
return finish()
