-- Takes one shop's entries out of a stream of its tenant, so that nothing of them is left in memory or on disk: XDEL only
-- marks entries. An entry that names no shop, as earlier programs wrote tries of webhooks, may be the shop's and goes too. Others keep their ids, and the stream the id it gave last, so that cursors stay as they were. What was erased
-- no longer counts as added: more added than there are says that entries were cut off, which readers may have missed.
--
-- KEYS: the stream. ARGV: the shop's id. Reply: how many entries were erased. Whole or not at all.

local stream, shop = KEYS[1], ARGV[1]
if redis.call('EXISTS', stream) == 0 then return 0 end
local entries = redis.call('XRANGE', stream, '-', '+')
local info = redis.call('XINFO', 'STREAM', stream)
local facts = {}
for index = 1, #info, 2 do facts[info[index]] = info[index + 1] end
local kept = {}
for _, entry in ipairs(entries) do
  local fields = entry[2]
  local ofShop = nil
  for index = 1, #fields, 2 do
    if fields[index] == 's' then ofShop = fields[index + 1] == shop end
  end
  if ofShop == false then kept[#kept + 1] = entry end
end
local erased = #entries - #kept
if erased == 0 then return 0 end
redis.call('DEL', stream)
for _, entry in ipairs(kept) do redis.call('XADD', stream, entry[1], unpack(entry[2])) end
if #kept == 0 then
  redis.call('XADD', stream, facts['last-generated-id'], 't', '')
  redis.call('XTRIM', stream, 'MAXLEN', 0)
end
redis.call('XSETID', stream, facts['last-generated-id'], 'ENTRIESADDED', facts['entries-added'] - erased)
return erased
