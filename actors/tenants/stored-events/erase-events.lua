#!lua flags=allow-oom
-- Erases entries from a stream of a tenant: those that have one of the given values in a field. Works in steps: call it until
-- it answers 0. XDEL only marks entries, so they would stay in memory and on disk. Instead each step copies some of the other
-- entries, and the last step replaces the stream with the copy. Shops add entries meanwhile.
-- The other entries keep their ids, and the stream keeps its last id, so that cursors stay valid.
-- Erased entries no longer count as added. A stream with more added than present entries has had some cut off, which readers
-- may have missed.
-- The position of the copy is stored with it, so after a crash the next call continues. A second caller of the same erasure
-- does no harm.
-- It also runs when memory is full: the copy is removed, or replaces a larger stream.
--
-- KEYS: the stream; the copy; a hash with the erasure's name and the id of the last entry by stream.
-- ARGV: the erasure's name; how many entries a step reads; the field; the values.
-- Reply: 1, there is more to do; 0, no such entry is left.
-- Errors: arguments of another form; nothing was changed.

local stream, copy, steps = KEYS[1], KEYS[2], KEYS[3]
local name, most, field = ARGV[1], tonumber(string.match(ARGV[2] or '', '^%d+$')), ARGV[3]
if #KEYS ~= 3 or not most or most < 1 or most > 100000 or not ARGV[4] then
  return redis.error_reply('ERR the arguments are no step of an erasure')
end
local gone = {}
for index = 4, #ARGV do gone[ARGV[index]] = true end

local function finish()
  redis.call('UNLINK', copy)
  redis.call('HDEL', steps, stream)
  return 0
end

if redis.call('EXISTS', stream) == 0 then return finish() end
local step = redis.call('HGET', steps, stream)
local from = '-'
if step and string.sub(step, 1, #name + 1) == name .. ' ' then
  from = '(' .. string.sub(step, #name + 2)
else
  redis.call('UNLINK', copy)
end

local entries = redis.call('XRANGE', stream, from, '+', 'COUNT', most)
for _, entry in ipairs(entries) do
  local fields, stays = entry[2], true
  for index = 1, #fields, 2 do
    if fields[index] == field then stays = not gone[fields[index + 1]] end
  end
  if stays then redis.call('XADD', copy, entry[1], unpack(fields)) end
end
if #entries == most then
  redis.call('HSET', steps, stream, name .. ' ' .. entries[most][1])
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
