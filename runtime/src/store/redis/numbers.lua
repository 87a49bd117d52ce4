-- By which numbers the processes of a circuit go: each notes its own, and reads all that were
-- noted lately.
--
-- The twin of `Noted::note` in `store/noted.rs`.
--
-- KEYS[1] is a hash: numbers, and when they were noted last, in milliseconds of this server.
-- ARGV: the channel, the circuit, the numbers that this process went by before and those that it
-- goes by now (either may be empty), and for how long they count.

local channel, circuit, former, current, kept = unpack(ARGV)
kept = tonumber(kept)

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

local is_news = false
if former ~= '' and redis.call('HDEL', KEYS[1], former) == 1 then is_news = true end
if current ~= '' then
  local is_new = redis.call('HSET', KEYS[1], current, string.format('%.0f', now)) == 1
  is_news = is_news or is_new
end

local alive = {}
local noted = redis.call('HGETALL', KEYS[1])
for i = 1, #noted, 2 do
  local numbers, at = noted[i], tonumber(noted[i + 1])
  -- After a jump of the clock it may seem to come from the future.
  if at and math.abs(now - at) < kept then
    table.insert(alive, numbers)
  else
    redis.call('HDEL', KEYS[1], numbers)
  end
end
redis.call('PEXPIRE', KEYS[1], ARGV[5])

-- Whoever else is there looks now, and not when it is time again.
local is_alone = #alive == 0 or #alive == 1 and alive[1] == current
if is_news and (former ~= '' or not is_alone) then
  redis.pcall('PUBLISH', channel, 'numbers|' .. circuit)
end
return alive
