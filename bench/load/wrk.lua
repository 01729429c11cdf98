-- The requests of a load plan for wrk, in the order of bench/load/request-source.ts.
--
-- Arguments:
--   a file of requests
--   requests a second; 0: closed loop
--   the number of the first send
--   the most requests; 0: no bound
--   the messages that a shop takes an hour
--
-- The last line of the output is the result as JSON.
--
-- Lines of the file: `get <path> <key>`, `shop <id> <key>`, `recipient <phone>`.

local ffi = require('ffi')
ffi.cdef 'typedef struct { long seconds, nanoseconds; } moment; int clock_gettime(int clock, moment *now);'
local moment = ffi.new('moment')

local function now_us()
  ffi.C.clock_gettime(1, moment)
  return tonumber(moment.seconds) * 1e6 + tonumber(moment.nanoseconds) / 1e3
end

local gets, ids, keys, recipients = {}, {}, {}, {}
local rate, most, messages_a_shop
local given, began_us = 0, nil
-- Read from outside of the thread when it is over.
made, answered, first_us, last_us = 0, 0, 0, 0

local function read(path)
  for line in io.lines(path) do
    local kind, what, key = string.match(line, '^(%S+) (%S+) ?(%S*)$')
    if kind == 'get' then
      gets[#gets + 1] = 'GET ' .. what .. ' HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ' .. key .. '\r\n\r\n'
    elseif kind == 'shop' then
      ids[#ids + 1] = what
      keys[#keys + 1] = key
    else
      recipients[#recipients + 1] = what
    end
  end
end

local HEAD = 'POST /api/v1/shops/%s/messages HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s\r\n'
  .. 'Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s'
local BODY = '{"channel":"msgapp","to":"%s","text":"Your order %d is ready and waits for you at the counter."}'

local function send(number)
  local shop = number % #ids
  local round = math.floor(number / #ids)
  local to = recipients[(shop * messages_a_shop + round) % #recipients + 1]
  local body = string.format(BODY, to, number)
  return string.format(HEAD, ids[shop + 1], keys[shop + 1], #body, body)
end

function request()
  made = made + 1
  if #gets > 0 then return gets[made % #gets + 1] end
  return send(made - 1)
end

-- Returns how long the connection waits before its next request, in milliseconds. All connections take their times from
-- one schedule, so the rate holds whichever connection is free.
local function wait_ms()
  given = given + 1
  if most > 0 and given > most then return 3600000 end
  if rate == 0 then return 0 end
  began_us = began_us or now_us()
  return math.max(0, math.ceil((began_us + given * 1e6 / rate - now_us()) / 1e3))
end

local function note_answer()
  last_us = now_us()
  answered = answered + 1
end

function init(args)
  read(args[1])
  rate, made, most, messages_a_shop = tonumber(args[2]), tonumber(args[3]), tonumber(args[4]), tonumber(args[5])
  first_us = now_us()
  if rate > 0 or most > 0 then delay = wait_ms end
  if most > 0 then response = note_answer end
end

local thread
function setup(one) thread = one end

function done(summary, latency)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.timeout
  local us = summary.duration
  if thread:get('answered') > 0 then us = thread:get('last_us') - thread:get('first_us') end
  io.write(string.format(
    '\n{"requests":%d,"durationMs":%f,"notAnswered":%d,"refused":%d,"made":%d,"cpuMs":%f,"ms":[%f,%f,%f,%f,%f]}\n',
    summary.requests, us / 1e3, failed, errors.status, thread:get('made'), os.clock() * 1e3,
    latency:percentile(50) / 1e3, latency:percentile(90) / 1e3, latency:percentile(99) / 1e3,
    latency:percentile(99.9) / 1e3, latency.max / 1e3
  ))
end
