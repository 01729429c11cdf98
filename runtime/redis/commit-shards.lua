#!lua
-- Commits one batch: a section a shard, each applied whole or not at all.
--
-- The first line matters: with it Redis checks memory (maxmemory), role (read-only replica) and persistence
-- (MISCONF) before the script starts and refuses it whole, instead of failing in the middle of it.
--
-- Each turn's writes begin with their form, the commands with how many arguments each takes: `HSET2=PEXPIREAT1`, where
-- a `=` says that the write is to the key of the one before. Most turns have one of few forms, so most of them cost
-- one argument and no parsing: what travels and what the client must encode is the price of a commit.
--
-- KEYS, a section: the shard's record `{sN}:owner`, then the key of each write, in order, save those after a `=`.
-- ARGV: how many sections; then a section: expected record, next record, how many turns, how many KEYS and how many
--   ARGV these take; then a turn: its form, then the arguments of each write after its key.
-- Reply: an entry a section: 1, committed; a string, the record that was there instead ('' for none), nothing
--   was applied; a list of strings `index message`, committed but for these writes (a wrong type: broken invariant).
-- Errors: OOM, READONLY, MISCONF, NOSCRIPT, CLUSTERDOWN and the like: nothing was applied.

local forms = {}

local function parse(text)
  local form = {}
  for same, command, count in string.gmatch(text, '(=?)(%u+)(%d+)') do
    form[#form + 1] = { command = command, count = tonumber(count), same = same == '=' }
  end
  forms[text] = form
  return form
end

local outcomes = {}
local argument = 2
local key = 1
for section = 1, tonumber(ARGV[1]) do
  local record = KEYS[key]
  local actual = redis.call('GET', record)
  if actual ~= ARGV[argument] then
    outcomes[section] = actual or ''
    key = key + 1 + tonumber(ARGV[argument + 3])
    argument = argument + 5 + tonumber(ARGV[argument + 4])
  else
    redis.call('SET', record, ARGV[argument + 1])
    local turns = tonumber(ARGV[argument + 2])
    argument = argument + 5
    local failures = nil
    local index = 0
    for turn = 1, turns do
      local form = forms[ARGV[argument]] or parse(ARGV[argument])
      argument = argument + 1
      for position = 1, #form do
        local write = form[position]
        if not write.same then key = key + 1 end
        local following = argument + write.count
        local reply = redis.pcall(write.command, KEYS[key], unpack(ARGV, argument, following - 1))
        if type(reply) == 'table' and reply.err then
          failures = failures or {}
          failures[#failures + 1] = index .. ' ' .. reply.err
        end
        argument = following
        index = index + 1
      end
    end
    key = key + 1
    outcomes[section] = failures or 1
  end
end
return outcomes
