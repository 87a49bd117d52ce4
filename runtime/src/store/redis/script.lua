-- One step of a circuit that several processes share.
--
-- The twin of `rules::fleet::apply`: the same steps in the same order under the same names,
-- and `differential.rs` holds the two together. Change both or neither. What comes in and goes
-- out are the texts of `wire.rs`. It is one file so that the line which the server names in an
-- error is the line here.
--
-- KEYS[1] is the hash of the circuit, KEYS[2] the list of what has happened to it.
-- All times are whole milliseconds of this server's clock. Numbers are doubles, which are exact
-- below 2^53; what may be larger (who it is, which probe) stays a text.

-- What is asked: the arguments one after the other, as `wire/sent.rs` lists them.
local at = 0
local function text()
  at = at + 1
  return ARGV[at]
end
-- nil where the text is empty.
local function number()
  return tonumber(text())
end

local nonce = text()
local channel = text()
local circuit = text()
local origin = text()
local instance = text()
local draw = number()
local deadline = number()

local view = {}
view.epoch = number()
view.phase = text()
view.remaining = number()
view.length = number()
view.trips = number()
view.opened_by = text()
view.cover = text()
view.live = text()

local policy = {}
policy.threshold = number()
-- 'm' and milliseconds, or 'c' and calls.
policy.width = text()
policy.failure_rate = text()
policy.min_calls = number()
policy.min_failures = number()
policy.slow_call_rate = text()
policy.cooldown = number()
policy.backoff = number()
policy.max_cooldown = number()
policy.jitter = number()
policy.max_open_for = number()
policy.probes = number()
policy.probe_concurrency = number()
policy.close_after = number()
policy.probe_failure_rate = text()
policy.probe_timeout = number()
policy.ramp = number()
policy.min_instances = number()
-- How long the hash outlives what it holds.
policy.keep = number()

local command = text()

local BUCKETS = 10
local SETTLE = 100
local TELL = 100
local LEASE = 2000
local LONGEST_LEASE = 60000
local FOREVER = 100 * 366 * 24 * 3600000 -- no length of time is longer: sums stay exact
local FORGOTTEN = 3600000
local MOST = 4294967295 -- what 32 bits hold
local LATEST = 253402300799999 -- no time is later: the end of the year 9999
local JOURNAL = 100 -- so many entries ...
local JOURNAL_KEPT = 30 * 24 * 3600000 -- ... for so long after the last one

local now
do
  local time = redis.call('TIME')
  now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

-- Beyond 14 digits `tostring` would round.
local function whole(it)
  return string.format('%.0f', it)
end

-- `label:a:b:limit`, where what is missing is empty. A limit stays the text it came as.
local function reason(label, a, b, limit)
  return table.concat({ label, a and whole(math.min(a, MOST)) or '',
    b and whole(math.min(b, MOST)) or '', limit or '' }, ':')
end

-- Late: nothing is read and nothing is done.
if deadline ~= 0 and now > deadline then
  return table.concat({ nonce, 'late', '', whole(now), '0,0,0', '0|closed|0|0|0|-|0|-|0', '-', '' }, '|')
end

-- What lies there. -----------------------------------------------------------------------

local FIELDS = { 'v', 'epoch', 'phase', 'until', 'length', 'trips', 'opened_by', 'closed_at',
  'failures', 'slots', 'suspect_since', 'told_at', 'reporters', 'round', 'leases', 'cover',
  'live' }

local function read_cover(packed)
  local kind, id, began, ends, actor, why =
    string.match(packed, '^([^:]*):(%d+):(%d+):(%d+):([^:]*):([^:]*)$')
  if not kind then return nil end
  return { kind = kind, id = tonumber(id), began = tonumber(began), ends = tonumber(ends),
    actor = actor, why = why }
end

-- Which live change it is, and what is written in it: only the processes can read that.
local function read_live(packed)
  local id, written = string.match(packed, '^(%d+):([^:]*)$')
  return { id = tonumber(id) or 0, text = written or '' }
end

local function new_round()
  return { successes = 0, failures = 0, hung = 0, leases = {} }
end

local function new_state()
  return { epoch = 0, phase = 'closed', ends = 0, length = 0, trips = 0, opened_by = '-',
    closed_at = 0, failures = 0, slots = {}, suspect_since = 0, told_at = 0, reporters = {},
    round = new_round(), cover = nil, live = { id = 0, text = '' } }
end

-- Nothing else was ever written here, and sums of these are exact.
local function is_whole(number)
  return number and number >= 0 and number <= LATEST and number % 1 == 0
end

-- Nothing where it is of another version, or somebody has broken it.
local function read_state()
  local read = new_state()
  local lies = redis.call('HMGET', KEYS[1], unpack(FIELDS))
  local field = {}
  for i, name in ipairs(FIELDS) do field[name] = lies[i] or nil end
  if not field.v then return read end
  if field.v ~= '1' then return nil end
  for _, name in ipairs({ 'epoch', 'until', 'length', 'trips', 'closed_at', 'failures',
    'suspect_since', 'told_at' }) do
    local number = tonumber(field[name] or 0)
    if not is_whole(number) then return nil end
    read[name] = number
  end
  read.ends = read['until']
  read.phase = field.phase or 'closed'
  read.opened_by = field.opened_by or '-'
  for width, index, calls, failures, slow in
    string.gmatch(field.slots or '', '([mc]%d+),(%d+),(%d+),(%d+),(%d+);') do
    table.insert(read.slots, { width = width, index = tonumber(index), calls = tonumber(calls),
      failures = tonumber(failures), slow = tonumber(slow) })
  end
  for who, when in string.gmatch(field.reporters or '', '(%x+),(%d+);') do
    table.insert(read.reporters, { instance = who, at = tonumber(when) })
  end
  local successes, failures, hung = string.match(field.round or '', '^(%d+),(%d+),(%d+)$')
  read.round.successes = tonumber(successes) or 0
  read.round.failures = tonumber(failures) or 0
  read.round.hung = tonumber(hung) or 0
  for token, started, expires, is_hung in
    string.gmatch(field.leases or '', '(%x+),(%d+),(%d+),([01]);') do
    table.insert(read.round.leases, { token = token, started = tonumber(started),
      expires = tonumber(expires), hung = is_hung == '1' })
  end
  read.cover = read_cover(field.cover or '-')
  read.live = read_live(field.live or '-')
  if not is_whole(read.live.id) then return nil end
  return read
end

local state = read_state()
if not state then
  return redis.error_reply('BREAKERBOX SCHEMA the hash is of another version, or broken')
end

local is_changed = false

local function no_later(time, latest)
  if time <= latest then return time end
  -- What is only mended anew each time would end as far from now as ever.
  is_changed = true
  return latest
end

-- After a jump of the clock nothing has begun after now, and nothing lasts longer than it was
-- meant to.
local function mend()
  state.ends = no_later(state.ends, now + state.length)
  state.closed_at = no_later(state.closed_at, now)
  state.suspect_since = no_later(state.suspect_since, now)
  state.told_at = no_later(state.told_at, now)
  for _, reporter in ipairs(state.reporters) do
    reporter.at = no_later(reporter.at, now)
  end
  for _, lease in ipairs(state.round.leases) do
    lease.started = no_later(lease.started, now)
    lease.expires = no_later(lease.expires, now + LONGEST_LEASE)
  end
  local cover = state.cover
  if cover and cover.began > now then
    cover.ends = now + math.max(cover.ends - cover.began, 0)
    cover.began = no_later(cover.began, now)
  end
end

-- How it moves. --------------------------------------------------------------------------

local sums = { calls = 0, failures = 0, slow = 0 }
local told = {}

local function state_label()
  return state.cover and state.cover.kind or state.phase
end

local function write_cover()
  local cover = state.cover
  if not cover then return '-' end
  return table.concat({ cover.kind, whole(cover.id), whole(cover.began), whole(cover.ends),
    cover.actor, cover.why }, ':')
end

local function snapshot()
  return table.concat({ whole(state.epoch), state.phase, whole(state.ends), whole(state.length),
    whole(state.trips), state.opened_by, state.suspect_since > 0 and '1' or '0',
    write_cover(), whole(state.live.id) }, '|')
end

local function tell(what, from, to, why)
  table.insert(told, { what = what, text = table.concat({ what, from or '', to or '', why or '-',
    instance, whole(now), snapshot(), circuit, origin }, '|') })
end

-- The numbers of the service have changed.
local function tell_live()
  tell('renumbered', nil, nil, state.live.text)
end

local function forget()
  state.failures = 0
  state.slots = {}
  state.suspect_since = 0
  state.told_at = 0
  state.reporters = {}
end

local function next_epoch()
  state.epoch = math.max(state.epoch + 1, now)
  is_changed = true
end

local function move_to(phase, why)
  local from = state_label()
  next_epoch()
  forget()
  state.round = new_round()
  state.phase = phase
  tell('moved', from, state_label(), why)
end

-- Multiplied one by one, so that every machine comes to the same.
local function cooldown()
  local longest = policy.max_cooldown
  local grown = policy.cooldown
  if policy.backoff > 1 then
    for _ = 2, state.trips do
      if grown >= longest then break end
      grown = grown * policy.backoff
    end
  end
  grown = math.floor(math.min(grown, longest))
  local drawn = draw / 4294967296
  return grown + math.floor(grown * policy.jitter * drawn)
end

-- How long an opening lasts that begins now.
local function length(at_least, exactly)
  local longest = policy.max_open_for
  if exactly then return math.max(math.min(exactly, longest), 1) end
  return math.max(cooldown(), math.min(at_least, longest), 1)
end

local function open(why, at_least, exactly)
  local is_over = now >= state.closed_at + (policy.ramp or 0)
  if state.phase == 'closed' and is_over then state.trips = 0 end
  state.trips = math.min(state.trips + 1, MOST)
  state.opened_by = why
  state.length = length(at_least, exactly)
  state.ends = now + state.length
  move_to('open', why)
end

local function close(why)
  if not policy.ramp then state.trips = 0 end
  state.ends = 0
  state.length = 0
  state.closed_at = now
  move_to('closed', why)
end

local function half_open()
  state.ends = 0
  state.length = 0
  move_to('half_open', reason('cooldown'))
end

local function start_afresh()
  next_epoch()
  forget()
  state.round = new_round()
  state.phase = 'closed'
  state.ends = 0
  state.length = 0
  state.trips = 0
  state.closed_at = 0
end

local function leave_epoch()
  next_epoch()
  state.round = new_round()
end

-- What a caller knows better. --------------------------------------------------------------

local function longest_lease()
  if command == 'acquire' or command == 'renew' then
    return math.min(math.max(tonumber(ARGV[at + 2]), 1), LONGEST_LEASE)
  end
  return LEASE
end

-- The store may have lost what it knew: whoever knows of a later epoch puts it back.
local function believe()
  local known = read_live(view.live)
  if known.id > state.live.id then
    state.live = known
    is_changed = true
    tell_live()
  end
  if view.epoch == 0 or view.epoch <= state.epoch then return end
  local was_empty = state.epoch == 0
  local live = state.live
  state = new_state()
  state.live = live
  state.epoch = view.epoch
  state.phase = view.phase
  state.trips = view.trips
  state.opened_by = view.opened_by
  state.cover = read_cover(view.cover)
  if state.cover then
    state.cover.began = now
    state.cover.ends = now + math.min(state.cover.ends, FOREVER)
  end
  if view.phase == 'closed' then
    -- A closed circuit of which nothing is known is a closed circuit.
    if was_empty and not state.cover then return end
  elseif view.phase == 'open' then
    state.ends = now + math.min(view.remaining, FOREVER)
    state.length = math.min(math.max(view.length, view.remaining), FOREVER)
  else
    -- Which leases are out is not known: it stays open until none of them can be.
    next_epoch()
    state.phase = 'open'
    state.length = longest_lease()
    state.ends = now + state.length
  end
  is_changed = true
  tell('restored')
end

-- What is laid over it. --------------------------------------------------------------------

local function uncover(cover, ended)
  if cover.kind ~= 'forced_open' then
    start_afresh()
    return
  end
  leave_epoch()
  if state.phase == 'open' then
    -- What was left of it is left of it still.
    state.ends = ended + math.max(state.ends - cover.began, 0)
  end
end

local function end_cover(ended)
  local from = state_label()
  local cover = state.cover
  state.cover = nil
  uncover(cover, ended)
  tell('moved', from, state_label(), reason('override_ended'))
end

-- An override whose time has passed ended when it had.
local function expire()
  if state.cover and state.cover.ends <= now then end_cover(state.cover.ends) end
end

local function cover_with(kind, ttl, actor, why)
  local from = state_label()
  local earlier = state.cover
  if earlier then
    state.cover = nil
    uncover(earlier, now)
  end
  leave_epoch()
  local length = math.min(math.max(ttl, 1), FOREVER)
  state.cover = { kind = kind, id = state.epoch, began = now, ends = now + length, actor = actor,
    why = why }
  tell('moved', from, state_label(), reason('override'))
  return 'done'
end

local function clear(id)
  if not state.cover or (id and state.cover.id ~= id) then return 'stale' end
  end_cover(now)
  return 'done'
end

local function reset()
  local from = state_label()
  start_afresh()
  tell('moved', from, state_label(), reason('reset'))
  return 'done'
end

-- Of two changes that do not know of each other the second is none.
local function renumber(written, after)
  if after ~= state.live.id then return 'stale' end
  state.live = { id = math.max(after + 1, now), text = written }
  is_changed = true
  tell_live()
  return 'done'
end

-- Calls that have ended somewhere. ---------------------------------------------------------

-- What they have seen has left the window.
local function forget_reporters(window)
  local reporters = {}
  for _, reporter in ipairs(state.reporters) do
    if reporter.at + window > now then
      table.insert(reporters, reporter)
    else
      is_changed = true
    end
  end
  state.reporters = reporters
end

-- No more are noted than are asked for.
local function note_reporter()
  local reporters = {}
  for _, reporter in ipairs(state.reporters) do
    if reporter.instance ~= instance then table.insert(reporters, reporter) end
  end
  if #reporters < policy.min_instances then
    table.insert(reporters, { instance = instance, at = now })
  end
  state.reporters = reporters
  is_changed = true
end

-- The counts hold nothing but successes, or they do.
local function note_suspicion(is_clean)
  if is_clean then
    state.suspect_since = 0
  elseif state.suspect_since == 0 then
    state.suspect_since = now
  end
end

local function tell_suspicion()
  if state.suspect_since > 0 and now >= state.told_at + TELL then
    state.told_at = now
    is_changed = true
    tell('suspect')
  end
end

local function count_in_a_row(flush)
  if flush.success and state.failures > 0 then
    state.failures = 0
    state.reporters = {}
    is_changed = true
  end
  if flush.failures > 0 then
    state.failures = math.min(state.failures + flush.failures, MOST)
    is_changed = true
    note_reporter()
  end
  note_suspicion(state.failures == 0)
  if policy.threshold and state.failures >= policy.threshold then
    return reason('threshold', state.failures, policy.threshold)
  end
  return nil
end

-- 'm' or 'c', and how wide.
local function read_width(width)
  return string.sub(width, 1, 1), tonumber(string.sub(width, 2))
end

-- Whether a version that looks back on this window may still count it. Only those of time are
-- sure to leave it by themselves.
local function is_of_use(slot)
  local kind, width = read_width(slot.width)
  if kind == 'm' then
    local newest = math.floor(now / width)
    return slot.index <= newest and slot.index + BUCKETS > newest
  end
  return slot.index <= now and slot.index + FORGOTTEN > now
end

local function retain_of_use(slots)
  local kept = {}
  for _, slot in ipairs(slots) do
    if is_of_use(slot) then table.insert(kept, slot) end
  end
  return kept
end

local function add(slots, index, delta)
  local place = 1
  while slots[place] and slots[place].index < index do place = place + 1 end
  if not slots[place] or slots[place].index ~= index then
    table.insert(slots, place,
      { width = policy.width, index = index, calls = 0, failures = 0, slow = 0 })
  end
  local slot = slots[place]
  slot.calls = slot.calls + delta.calls
  slot.failures = slot.failures + delta.failures
  slot.slow = slot.slow + delta.slow
end

-- Whether anything was told.
local function merge_by_time(slots, deltas, width)
  for _, delta in ipairs(deltas) do
    add(slots, math.floor(math.max(now - delta.age, 0) / width), delta)
  end
  -- A jump of the clock leaves buckets in the future.
  return retain_of_use(slots), #deltas > 0
end

-- Which of several processes' calls came first nobody knows: those that are told together stay
-- together.
local function merge_by_calls(slots, deltas, width)
  local is_merged = false
  for _, delta in ipairs(deltas) do
    if delta.calls > 0 then
      local newest = slots[#slots]
      local index = now
      if newest and newest.calls < width then
        index = newest.index
      elseif newest then
        index = math.max(now, newest.index + 1)
      end
      add(slots, index, delta)
      is_merged = true
    end
  end
  while #slots > BUCKETS do table.remove(slots, 1) end
  return slots, is_merged
end

-- The rule that the window meets, of several the first; and whether that is a rate.
local function judge()
  local calls, failures, slow = sums.calls, sums.failures, sums.slow
  if policy.threshold and failures >= policy.threshold then
    return reason('threshold_in_window', failures, policy.threshold), false
  end
  local enough = calls >= policy.min_calls
  local limit = tonumber(policy.failure_rate)
  if limit and failures >= policy.min_failures and enough and failures / calls >= limit then
    return reason('failure_rate', failures, calls, policy.failure_rate), true
  end
  limit = tonumber(policy.slow_call_rate)
  if limit and enough and slow / calls >= limit then
    return reason('slow_call_rate', slow, calls, policy.slow_call_rate), true
  end
  return nil, false
end

local function count_in_window(deltas)
  local before = #state.slots
  local own, slots = {}, {}
  for _, slot in ipairs(state.slots) do
    table.insert(slot.width == policy.width and own or slots, slot)
  end
  local kind, width = read_width(policy.width)
  local is_merged
  if kind == 'm' then
    own, is_merged = merge_by_time(own, deltas, width)
  else
    own, is_merged = merge_by_calls(own, deltas, width)
  end
  slots = retain_of_use(slots)
  for _, slot in ipairs(own) do
    sums.calls = sums.calls + slot.calls
    sums.failures = sums.failures + slot.failures
    sums.slow = sums.slow + slot.slow
    table.insert(slots, slot)
  end
  if is_merged or #slots ~= before then is_changed = true end
  -- Also of what another version counts.
  local is_clean = true
  for _, slot in ipairs(slots) do
    if slot.failures + slot.slow > 0 then is_clean = false end
  end
  state.slots = slots
  note_suspicion(is_clean)
  if is_clean then state.reporters = {} end
  if kind == 'm' then forget_reporters(width * BUCKETS) end
  for _, delta in ipairs(deltas) do
    if delta.failures + delta.slow > 0 then
      note_reporter()
      break
    end
  end
  return judge()
end

local function flush(it)
  local is_past = view.epoch ~= 0 and view.epoch ~= state.epoch and state.epoch ~= 0
  if state.phase ~= 'closed' or state.cover or is_past then return 'stale' end
  if state.epoch == 0 then
    -- Whoever knows of any move of the circuit knows of a later epoch, and is believed.
    state.epoch = 1
    is_changed = true
  end
  local judged, is_rate
  if policy.width ~= '' then
    judged, is_rate = count_in_window(it.deltas)
  else
    judged, is_rate = count_in_a_row(it), false
  end
  if it.exactly then
    open(reason('open_for'), it.at_least, it.exactly)
    return 'opened'
  end
  if judged and #state.reporters >= policy.min_instances then
    local settled = state.suspect_since + SETTLE
    if is_rate and now < settled then
      tell_suspicion()
      return 'settling', settled - now
    end
    open(judged, it.at_least, nil)
    return 'opened'
  end
  tell_suspicion()
  return 'done'
end

-- Probes. ----------------------------------------------------------------------------------

local function expiry(ttl)
  return now + math.min(math.max(ttl, 1), LONGEST_LEASE)
end

-- Takes the places of those whose process is gone, and of those that are too old.
local function notice()
  local leases = {}
  for _, lease in ipairs(state.round.leases) do
    if lease.expires > now then table.insert(leases, lease) else is_changed = true end
  end
  state.round.leases = leases
  for _, lease in ipairs(leases) do
    if not lease.hung and now - lease.started >= policy.probe_timeout then
      lease.hung = true
      state.round.hung = state.round.hung + 1
      is_changed = true
    end
  end
end

local function find(token)
  for i, lease in ipairs(state.round.leases) do
    if lease.token == token then return i, lease end
  end
  return nil
end

local function extend(token, ttl)
  local _, lease = find(token)
  if not lease then return false end
  lease.expires = expiry(ttl)
  is_changed = true
  return true
end

local function hung_out()
  local hung = state.round.hung
  return hung >= math.max(policy.probes, 2) and reason('probes_hung', hung) or nil
end

-- What the votes so far decide, as soon as no vote to come can change it: 'close' or 'open' and
-- why, or nothing.
local function decide()
  local successes, failures = state.round.successes, state.round.failures
  if successes >= policy.close_after then
    return 'close', reason('probes_succeeded', successes)
  end
  local limit = tonumber(policy.probe_failure_rate)
  if not limit then return nil end
  local probes = policy.probes
  if failures / probes >= limit then
    return 'open', reason('probe_failure_rate', failures, probes, policy.probe_failure_rate)
  end
  if math.max(probes - successes, 0) / probes < limit then
    return 'close', reason('probes_succeeded', successes)
  end
  return nil
end

local function free()
  local live = 0
  for _, lease in ipairs(state.round.leases) do
    if not lease.hung then live = live + 1 end
  end
  local voted = state.round.successes + state.round.failures
  return math.min(policy.probe_concurrency - live, policy.probes - voted - live)
end

local function reopen(why)
  open(why, 0, nil)
  return 'wait', state.length
end

local function acquire(token, ttl)
  if state.cover then
    return state.cover.kind == 'forced_open' and 'refused' or 'pass'
  end
  if state.phase == 'closed' then return 'pass' end
  if state.phase == 'open' then
    if now < state.ends then return 'wait', state.ends - now end
    half_open()
  end
  notice()
  local hung = hung_out()
  if hung then return reopen(hung) end
  -- The numbers may have changed in the middle of a round.
  local decision, why = decide()
  if decision == 'close' then
    close(why)
    return 'pass'
  elseif decision == 'open' then
    return reopen(why)
  end
  if extend(token, ttl) then return 'granted' end
  if free() <= 0 then return 'full' end
  table.insert(state.round.leases,
    { token = token, started = now, expires = expiry(ttl), hung = false })
  is_changed = true
  return 'granted'
end

local function is_of_this_round()
  return state.phase == 'half_open' and not state.cover and view.epoch == state.epoch
end

local function renew(token, ttl)
  if not is_of_this_round() then return 'stale' end
  notice()
  return extend(token, ttl) and 'done' or 'stale'
end

-- What a probe says by its end: 'for', 'against' and why, 'ban', or nothing.
local function vote(verdict, is_slow)
  if verdict == 'failure' or verdict == 'retry_after' then
    return 'against', reason('probe_failed')
  elseif verdict == 'open_for' then
    return 'ban'
  elseif verdict == 'ignore' then
    return nil
  elseif is_slow and policy.slow_call_rate ~= '' then
    return 'against', reason('probe_slow')
  end
  return 'for'
end

-- One that hung and voted after all.
local function voted(lease)
  if lease.hung then state.round.hung = state.round.hung - 1 end
end

-- Without a token it is a call that a probe has made itself.
local function end_probe(token, verdict, is_slow, millis)
  if not is_of_this_round() then return 'stale' end
  notice()
  local ended = nil
  if token ~= '' then
    local place, lease = find(token)
    if not lease then return 'stale' end
    ended = lease
    table.remove(state.round.leases, place)
    is_changed = true
  end
  local by_share = policy.probe_failure_rate ~= ''
  local cast, because = vote(verdict, is_slow)
  local decision, why = nil, nil
  if cast == 'ban' then
    decision, why = 'open', reason('open_for')
  elseif cast == 'against' and not by_share then
    -- Also of a call that rides along: it is the service that failed.
    decision, why = 'open', because
  elseif cast == 'against' and ended then
    voted(ended)
    state.round.failures = state.round.failures + 1
    decision, why = decide()
  elseif cast == 'for' and ended then
    voted(ended)
    state.round.successes = state.round.successes + 1
    decision, why = decide()
  elseif ended then
    why = hung_out()
    decision = why and 'open'
  end
  if decision == 'close' then
    close(why)
    return 'closed'
  elseif decision == 'open' then
    open(why, verdict == 'retry_after' and millis or 0, verdict == 'open_for' and millis or nil)
    return 'opened'
  end
  return 'done'
end

-- The step. --------------------------------------------------------------------------------

local function do_command()
  if command == 'sync' then
    return 'done'
  elseif command == 'flush' then
    local it = { success = text() == '1', failures = number(), at_least = number(),
      exactly = number(), deltas = {} }
    for age, calls, failures, slow in string.gmatch(text(), '(%d+),(%d+),(%d+),(%d+);') do
      table.insert(it.deltas, { age = tonumber(age), calls = tonumber(calls),
        failures = tonumber(failures), slow = tonumber(slow) })
    end
    return flush(it)
  elseif command == 'acquire' then
    local token = text()
    return acquire(token, number())
  elseif command == 'renew' then
    local token = text()
    return renew(token, number())
  elseif command == 'end' then
    local token = text()
    local verdict = text()
    local is_slow = text() == '1'
    return end_probe(token, verdict, is_slow, number())
  elseif command == 'cover' then
    local kind = text()
    local ttl = number()
    local actor = text()
    return cover_with(kind, ttl, actor, text())
  elseif command == 'clear' then
    return clear(number())
  elseif command == 'reset' then
    return reset()
  elseif command == 'renumber' then
    local written = text()
    return renumber(written, number())
  end
  return nil
end

mend()
believe()
expire()
local status, argument = do_command()
if not status then
  return redis.error_reply('BREAKERBOX COMMAND it is not known here')
end

-- What came of it. The one write comes first, and fails before anything else has been done
-- where there is no room or no leave. ---------------------------------------------------------

if is_changed then
  local slots, reporters, leases = {}, {}, {}
  for i, slot in ipairs(state.slots) do
    slots[i] = table.concat({ slot.width, whole(slot.index), whole(slot.calls),
      whole(slot.failures), whole(slot.slow) }, ',') .. ';'
  end
  for i, reporter in ipairs(state.reporters) do
    reporters[i] = reporter.instance .. ',' .. whole(reporter.at) .. ';'
  end
  for i, lease in ipairs(state.round.leases) do
    leases[i] = table.concat({ lease.token, whole(lease.started), whole(lease.expires),
      lease.hung and '1' or '0' }, ',') .. ';'
  end
  local round = state.round
  redis.call('HSET', KEYS[1],
    'v', '1',
    'epoch', whole(state.epoch),
    'phase', state.phase,
    'until', whole(state.ends),
    'length', whole(state.length),
    'trips', whole(state.trips),
    'opened_by', state.opened_by,
    'closed_at', whole(state.closed_at),
    'failures', whole(state.failures),
    'slots', table.concat(slots),
    'suspect_since', whole(state.suspect_since),
    'told_at', whole(state.told_at),
    'reporters', table.concat(reporters),
    'round', table.concat({ whole(round.successes), whole(round.failures),
      whole(round.hung) }, ','),
    'leases', table.concat(leases),
    'cover', write_cover(),
    'live', whole(state.live.id) .. ':' .. state.live.text)
end

-- What is changed while the processes run stays as long as one of them asks for it.
if is_changed or (command == 'sync' and state.live.id > 0) then
  -- An opening beneath an override goes on after it.
  local left = math.max(state.ends - now, 0)
  if state.cover then left = left + math.max(state.cover.ends - now, 0) end
  redis.pcall('PEXPIRE', KEYS[1], whole(policy.keep + left))
end

-- What is written stands, whether or not it can be told.
local nopub = ''
for _, message in ipairs(told) do
  local answer = redis.pcall('PUBLISH', channel, message.text)
  if type(answer) == 'table' and answer.err then nopub = 'nopub' end
end
local is_noted = false
for _, message in ipairs(told) do
  if message.what ~= 'suspect' then
    redis.pcall('LPUSH', KEYS[2], message.text)
    is_noted = true
  end
end
if is_noted then
  redis.pcall('LTRIM', KEYS[2], '0', whole(JOURNAL - 1))
  redis.pcall('PEXPIRE', KEYS[2], whole(JOURNAL_KEPT))
end

return table.concat({ nonce, status, argument and whole(argument) or '', whole(now),
  table.concat({ whole(sums.calls), whole(sums.failures), whole(sums.slow) }, ','),
  snapshot(), command == 'sync' and '=' .. state.live.text or '-', nopub }, '|')
