/**
 * A file that Ruby loads before everything else (`RUBYOPT=-r`), in each process of the command. It waits until RSpec, Minitest or test-unit
 * are loaded, and then writes how each test ends, for `signedReport`: Ruby's runners are started in many ways (`bundle exec`, `rake`,
 * `rails test`), and their own reports are written in the process of the judged code.
 *
 * Each line is signed with a key that leaves its file before any code of the project is loaded, and is numbered. What the project's code puts in
 * the place of the runner's methods, or of Ruby's comparisons, is told. Gaps that are left: code that searches this process for the key
 * (`ObjectSpace`), or that puts back what it replaced. It must then forge the report of the negative control, too, without knowing it.
 */
export const rubyReporter = ({ destination, keyFile, copy }: { readonly destination: string; readonly keyFile: string; readonly copy: string }): string => `# frozen_string_literal: true

lambda do
  copy = ${rubyText(copy)} + '/'
  options = ENV['CONDUCTOR_RUBYOPT'].to_s

  # By their places: a gem of another version may be wanted later, and a default one that is active already would keep it away.
  begin
    %w[digest.so digest/sha2.so].each { |library| require File.join(RbConfig::CONFIG['rubyarchdir'], library) }
  rescue LoadError
    require 'digest/sha2'
  end
  digest = Digest::SHA256.method(:hexdigest)

  # Leaves the next key in the file, because a command may start several processes of Ruby.
  number, key = File.open(${rubyText(keyFile)}, 'r+b') do |file|
    file.flock(File::LOCK_EX)
    number, key = file.read.split(' ')
    key = [key].pack('H*')
    file.rewind
    file.truncate(0)
    file.write("#{number.to_i + 1} #{digest.call(key + 'next')}")
    [number.to_i, key]
  end
  target = File.open(${rubyText(destination)}, 'ab', 0o600)
  target.close_on_exec = true
  owner = Process.pid
  lines = 0
  lock = Mutex.new
  now = Process.method(:clock_gettime)
  clock = -> { now.call(Process::CLOCK_MONOTONIC) }

  quoted = lambda do |text|
    plain = text.to_s.dup.force_encoding(text.to_s.encoding == Encoding::BINARY ? Encoding::UTF_8 : text.to_s.encoding).encode('UTF-8', invalid: :replace, undef: :replace).scrub('?')
    '"' + plain.gsub(/["\\\\\\u0000-\\u001f]/) { |sign| format('\\\\u%04x', sign.ord) } + '"'
  end
  as_json = lambda do |value|
    case value
    when nil then 'null'
    when Array then "[#{value.map(&as_json).join(',')}]"
    when Integer, Float then value.to_s
    else quoted.call(value)
    end
  end
  # In other processes, such as forked ones, it does nothing.
  line = lambda do |fields|
    next if Process.pid != owner
    lock.synchronize do
      event = '{' + fields.map { |name, value| "#{quoted.call(name)}:#{as_json.call(value)}" }.join(',') + '}'
      signed = "#{number} #{lines} #{event}".b
      lines += 1
      target.syswrite("#{digest.call(key + signed + key)} ".b + signed + "\\n".b)
    end
  end
  line.call(type: 'start')

  # What the runner and its assertions consist of, when an installed file has defined it: by module, its ancestors and methods.
  known = {}
  own_methods = ->(place) { place.instance_methods(false) + place.private_instance_methods(false) }
  before_itself = ->(place) { place.ancestors.take_while { |other| !other.equal?(place) } }
  remember = lambda do |place, names = nil|
    found = known[place] ||= { ahead: [], methods: {} }
    found[:ahead] = before_itself.call(place)
    found[:is_whole] = names.nil?
    (names || own_methods.call(place)).each { |name| found[:methods][name] = place.instance_method(name) rescue next }
  end
  compares = %i[== != === eql? equal? ! =~ <=> hash is_a? kind_of? instance_of? nil? respond_to? include? empty? match? raise fail exit abort exit! catch throw at_exit]
  [BasicObject, Object, Kernel, Comparable, Enumerable, String, Symbol, Integer, Float, Numeric, Array, Hash, Range, Regexp, Module, Class, NilClass, TrueClass, FalseClass,
   Struct, Exception, Proc, Method, Time.singleton_class, Process.singleton_class, Kernel.singleton_class].each do |place|
    remember.call(place, compares & own_methods.call(place))
  end
  [[Time, :now], [Process, :clock_gettime]].each { |place, name| remember.call(place.singleton_class, [name]) }

  told = {}
  tell = lambda do |name, file|
    next if told[name]
    inside = file && file.start_with?(copy) ? file[copy.size..] : nil
    # A gem that changes another one is the person's.
    next if file && !inside && File.file?(file)
    told[name] = true
    line.call(type: 'replaced', name: name, file: inside)
  end
  looks_again = 0
  look = lambda do |is_last = false|
    started = clock.call
    next if started < looks_again && !is_last
    known.each do |place, was|
      (before_itself.call(place) - was[:ahead]).each do |other|
        own_methods.call(other).each { |name| tell.call("#{place}##{name}", other.instance_method(name).source_location&.first) }
      end
      was[:methods].each do |name, method|
        current = place.instance_method(name) rescue nil
        tell.call("#{place}##{name}", current&.source_location&.first) unless current == method
      end
      # What takes the place of a method that it has from elsewhere.
      next unless was[:is_whole]
      (own_methods.call(place) - was[:methods].keys).each do |name|
        method = place.instance_method(name)
        tell.call("#{place}##{name}", method.source_location&.first) if (place.ancestors - [place]).any? { |other| other.method_defined?(name, false) || other.private_method_defined?(name, false) }
      end
    end
    ended = clock.call
    looks_again = ended + 20 * (ended - started)
  end

  milliseconds = ->(started) { ((clock.call - started) * 1000).round(3) }
  # Ruby may put the line of code below a message, with a mark under what is wrong.
  said = ->(error) { "#{error.class}: #{error.message.sub(/\\n\\n[^\\n]*\\n\\s*\\^+\\s*\\z/, '')}"[0, 4000] }
  cause = ->(error) { said.call(error).lines.first.to_s.strip }
  result = lambda do |kind, status, file, names, message, duration|
    line.call(type: 'result', kind: kind, status: status, file: file && File.expand_path(file), names: names, message: message && message[0, 4000], durationMs: duration)
  end
  ended = false
  finish = lambda do
    next if ended
    ended = true
    look.call(true)
    line.call(type: 'end')
  end
  # From now on the processes that tests start are nobody's but theirs.
  let_go = lambda do
    options.empty? ? ENV.delete('RUBYOPT') : ENV['RUBYOPT'] = options
    ENV.delete('CONDUCTOR_RUBYOPT')
  end
  hooked = {}

  rspec = lambda do
    names_of = lambda do |example|
      group = example.example_group
      written = example.metadata[:description_args]
      # The words of a test without words come from what it expects.
      silent = group.examples.select { |other| other.metadata[:description_args].empty? }
      own = written.empty? ? "example #{(silent.index(example) || 0) + 1}" : example.metadata[:description]
      group.parent_groups.reverse.map(&:description) + [own]
    end
    report = lambda do |example, started|
      outcome = example.execution_result
      status = { passed: 'passed', failed: 'failed', pending: 'skipped' }[outcome.status]
      error = outcome.exception || example.exception
      message = status == 'skipped' ? outcome.pending_message.to_s : error && said.call(error)
      result.call('test', status || 'failed', example.metadata[:rerun_file_path], names_of.call(example), message, milliseconds.call(started))
      look.call
    end
    RSpec::Core::Example.prepend(Module.new do
      define_method(:run) do |*given|
        started = clock.call
        super(*given).tap { report.call(self, started) }
      end
      define_method(:fail_with_exception) { |*given| super(*given).tap { report.call(self, clock.call) } }
      define_method(:skip_with_exception) { |*given| super(*given).tap { report.call(self, clock.call) } }
    end)
    RSpec::Core::Reporter.prepend(Module.new do
      define_method(:notify_non_example_exception) do |error, context|
        _, file = /An error occurred while loading (.+)\\.\\z/.match(context.to_s).to_a
        file = nil unless file && File.file?(file)
        file ||= error.backtrace.to_a.map { |at| at[/\\A(.+?):\\d+/, 1] }.find { |at| at.to_s.start_with?(copy) }
        hides = /loading|before\\(:suite\\)/.match?(context.to_s)
        result.call(hides ? 'all' : 'container', 'failed', file, [context.to_s.lines.first.to_s.strip], cause.call(error), 0)
        super(error, context)
      end
    end)
    RSpec::Core::Runner.prepend(Module.new do
      define_method(:run) { |*given| super(*given).tap { finish.call } }
    end)
    [RSpec::Core::Example, RSpec::Core::Reporter, RSpec::Core::Runner].each { |place| remember.call(place) }
  end

  # Of Minitest and test-unit: the method's own file, which may be another one than its class's.
  method_test = lambda do |test, name, status, message, started|
    place = test.method(name).source_location&.first rescue nil
    result.call('test', status, place, [test.class.name.to_s, name.to_s], message, milliseconds.call(started))
    look.call
  end

  minitest = lambda do
    Minitest::Test.prepend(Module.new do
      define_method(:run) do |*given|
        started = clock.call
        super(*given).tap do
          skips, faults = failures.partition { |fault| Minitest::Skip === fault }
          status = faults.any? ? 'failed' : skips.any? ? 'skipped' : 'passed'
          method_test.call(self, name, status, failures.map(&said).join("\\n"), started)
        end
      end
    end)
    Minitest.singleton_class.prepend(Module.new do
      define_method(:run) { |*given| super(*given).tap { finish.call } }
    end)
    [Minitest::Test, Minitest.singleton_class].each { |place| remember.call(place) }
  end

  test_unit = lambda do
    faults = {}.compare_by_identity
    Test::Unit::TestCase.prepend(Module.new do
      { add_error: 'failed', add_failure: 'failed', add_omission: 'skipped', add_pending: 'skipped' }.each do |name, status|
        define_method(name) do |*given|
          (faults[self] ||= []) << [status, Exception === given.first ? said.call(given.first) : given.first.respond_to?(:message) ? given.first.message.to_s : given.first.to_s]
          super(*given)
        end
      end
      define_method(:run) do |*given, &block|
        started = clock.call
        super(*given, &block).tap do
          all = faults.delete(self).to_a
          statuses = all.map(&:first)
          status = statuses.include?('failed') || !passed? ? 'failed' : statuses.include?('skipped') ? 'skipped' : 'passed'
          method_test.call(self, method_name, status, all.map(&:last).join("\\n"), started)
        end
      end
    end)
    Test::Unit::AutoRunner.singleton_class.prepend(Module.new do
      define_method(:run) { |*given, &block| super(*given, &block).tap { finish.call } }
    end)
    [Test::Unit::TestCase, Test::Unit::AutoRunner.singleton_class].each { |place| remember.call(place) }
  end

  runners = { 'RSpec::Core::ExampleGroup' => rspec, 'Minitest::Test' => minitest, 'Test::Unit::AutoRunner' => test_unit }
  runs = /\\A(?:RSpec|Minitest|Test::Unit|MiniTest)\\b/
  TracePoint.new(:end) do |point|
    place = point.self
    name = place.name if Module === place
    next if name.nil? || !runs.match?(name) || point.path.start_with?(copy)
    remember.call(place)
    remember.call(place.singleton_class)
    hook = runners[name]
    if hook && !hooked[name]
      hooked[name] = true
      let_go.call
      hook.call
    end
  end.enable

  # Where a file of tests cannot be loaded, Minitest and test-unit do not begin.
  at_exit do
    error = $!
    if (hooked['Minitest::Test'] || hooked['Test::Unit::AutoRunner']) && !hooked['RSpec::Core::ExampleGroup'] && !ended && (ScriptError === error || StandardError === error)
      place = ScriptError === error && error.message[/\\A(.+?):\\d+:/, 1]
      place ||= error.backtrace.to_a.map { |at| at[/\\A(.+?):\\d+/, 1] }.find { |at| at.to_s.start_with?(copy) }
      result.call('all', 'failed', place, ['The tests could not be loaded.'], cause.call(error), 0)
      finish.call
    end
  end
end.call
`;

/** As a text of Ruby in which nothing is replaced. */
const rubyText = (text: string): string => `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`;
