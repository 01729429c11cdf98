#!lua
-- Applies one group of commits. It has a section for each shard. A section whose record is not the expected one is not
-- applied at all. Any other is applied, except the writes that Redis refuses: the reply names them.
--
-- The first line matters. With it Redis checks memory (maxmemory), role (read-only replica) and persistence (MISCONF)
-- before the script starts, and refuses it whole. Without it the script could fail in the middle.
--
-- One command reads the records of all sections, and one replaces them, because each command and each key costs time.
--
-- The form of a section lists its commands, each with the number of its arguments: `HSET4RPUSH1=PEXPIREAT1`. A `=`
-- marks a write to the key of the write before it. There are few forms, so most sections need no parsing.
--
-- Two commands are ours:
--   XTRIMOLD position: removes the oldest entries of a stream, but not the newest one that is older than the position.
--     XTRIM would remove that one too, and a reader at that entry would look like one that missed something.
--     Redis removes whole nodes of the stream only, so some older entries may stay.
--   HDELIF field value: deletes the field of a hash if it has this value.
--
-- KEYS: the record of each section's shard, `{sN}:owner`. Then for each section the key of each write, except those
--   after a `=`.
-- ARGV: the number of sections. Then for each section: the expected record, the next record, the form, the number of
--   KEYS and of ARGV that its writes take, and the arguments of each write after its key.
-- Reply: an entry for each section:
--   1: it was applied.
--   A string: nothing of it was applied. The string is the record that Redis has, '' for none.
--   A list of strings `index message`: it was applied without these writes. Redis refused them, for example for the
--     type of their key, which is a broken invariant.
-- Errors: OOM, READONLY, MISCONF, NOSCRIPT, CLUSTERDOWN and the like, and arguments of another form. Nothing was
--   applied. An error in the middle would leave a shard's record behind without its writes.

local function trimOld(stream, place)
  -- With no entry before the place, XREVRANGE would look through the whole stream.
  local oldest = redis.pcall('XRANGE', stream, '-', '(' .. place, 'COUNT', 1)
  if oldest.err or not oldest[1] then return oldest end
  local newestOld = redis.pcall('XREVRANGE', stream, '(' .. place, '-', 'COUNT', 1)
  return redis.pcall('XTRIM', stream, 'MINID', '~', newestOld[1][1])
end

local function deleteIf(hash, field, value)
  local held = redis.pcall('HGET', hash, field)
  if type(held) == 'table' and held.err then return held end
  if held ~= value then return 0 end
  return redis.pcall('HDEL', hash, field)
end

local ours = { XTRIMOLD = trimOld, HDELIF = deleteIf }
local forms = {}

-- Returns the form with the number of its keys and arguments, or nil for a text that is no form.
local function parse(text)
  local form, keys, arguments, length = {}, 0, 0, 0
  for same, command, count in string.gmatch(text, '(=?)(%u+)(%d+)') do
    form[#form + 1] = { command = command, ours = ours[command], count = tonumber(count), same = same == '=' }
    length = length + #same + #command + #count
    arguments = arguments + tonumber(count)
    if same == '' then keys = keys + 1 elseif keys == 0 then return nil end
  end
  if length ~= #text then return nil end
  form.keys, form.arguments = keys, arguments
  forms[text] = form
  return form
end

local malformed = { err = 'ERR the arguments are no sections' }
local sections = tonumber(ARGV[1])
local ofKeys, ofArguments = sections, 1
for _ = 1, sections or 0 do
  local text = ARGV[ofArguments + 3]
  local form = text and (forms[text] or parse(text))
  if not form then return malformed end
  if form.keys ~= tonumber(ARGV[ofArguments + 4]) then return malformed end
  if form.arguments ~= tonumber(ARGV[ofArguments + 5]) then return malformed end
  ofKeys, ofArguments = ofKeys + form.keys, ofArguments + 5 + form.arguments
end
if ofKeys ~= #KEYS or ofArguments ~= #ARGV or sections < 1 then return malformed end

local actual = redis.call('MGET', unpack(KEYS, 1, sections))
local outcomes = {}
local replaced = {}
local argument = 2
for section = 1, sections do
  if actual[section] == ARGV[argument] then
    replaced[#replaced + 1] = KEYS[section]
    replaced[#replaced + 1] = ARGV[argument + 1]
  else
    outcomes[section] = actual[section] or ''
  end
  argument = argument + 5 + tonumber(ARGV[argument + 4])
end
if #replaced > 0 then redis.call('MSET', unpack(replaced)) end

argument = 2
local key = sections
for section = 1, sections do
  local following = argument + 5 + tonumber(ARGV[argument + 4])
  if outcomes[section] then
    key = key + tonumber(ARGV[argument + 3])
  else
    local form = forms[ARGV[argument + 2]]
    local failures = nil
    argument = argument + 5
    for position = 1, #form do
      local write = form[position]
      if not write.same then key = key + 1 end
      local last = argument + write.count - 1
      local reply
      if write.ours then
        reply = write.ours(KEYS[key], unpack(ARGV, argument, last))
      else
        reply = redis.pcall(write.command, KEYS[key], unpack(ARGV, argument, last))
      end
      if type(reply) == 'table' and reply.err then
        failures = failures or {}
        failures[#failures + 1] = (position - 1) .. ' ' .. reply.err
      end
      argument = last + 1
    end
    outcomes[section] = failures or 1
  end
  argument = following
end
return outcomes
