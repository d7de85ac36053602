/** Topics of code. The words of a topic are used together, in questions and in descriptions of workers. */
export interface Topic {
  /** Its name in descriptions of workers. */
  readonly about: string;
  readonly things: readonly string[];
  readonly functions: readonly string[];
  /** When it matters: ends a sentence that begins with "when" or "for". */
  readonly cases: readonly string[];
}

const list = (text: string): string[] => text.split('; ');

const topic = (about: string, things: string, functions: string, cases: string): Topic => ({
  about, things: list(things), functions: list(functions), cases: list(cases),
});

export const TOPICS: readonly Topic[] = [
  topic('dates, calendars and time zones', 'date; time zone; calendar; deadline; duration; weekday',
    'addBusinessDays; isLeapYear; parseDuration; next_weekday; formatRelative; daysBetween',
    'the last day of the month; a change to daylight saving time; 29 February; midnight in UTC; a negative offset'),
  topic('money, prices and rounding', 'price; invoice; discount; currency; tax; refund',
    'applyDiscount; total_with_tax; formatMoney; splitBill; roundCents; convertCurrency',
    'amounts below one cent; an empty cart; a discount of 100 %; two currencies; a negative amount'),
  topic('strings and text', 'string; word; sentence; line; paragraph; title',
    'capitalize; truncate; slugify; reverseWords; count_words; padLeft; wrapLines',
    'an empty string; accents and emoji; two spaces in a row; very long words; a text without spaces'),
  topic('parsers and grammars', 'parser; expression; token; grammar; bracket; literal',
    'parseExpression; tokenize; evalFormula; read_literal; parseQuery; matchBrackets',
    'nested brackets; a missing closing bracket; a unary minus; operators of equal precedence; escaped quotes'),
  topic('numbers and arithmetic', 'number; prime; fraction; divisor; factor; digit; ratio',
    'gcd; isPrime; toRoman; sumDigits; simplify_fraction; nthRoot; primeFactors',
    'zero; negative numbers; very large integers; one; repeating decimals'),
  topic('intervals, ranges and bookings', 'interval; range; booking; slot; schedule; overlap',
    'mergeIntervals; findFreeSlots; overlaps; book_room; splitRange; totalCovered',
    'two ranges that touch; an empty range; ranges inside one another; unsorted input; equal ends'),
  topic('geometry and shapes', 'rectangle; point; polygon; circle; distance; angle',
    'areaOf; intersects; rotatePoint; bounding_box; containsPoint; distanceBetween',
    'shapes that share an edge; a width of zero; points on a line; negative coordinates; a full turn'),
  topic('tables, records and data transformation', 'row; record; column; table; group; report',
    'groupBy; pivotTable; join_records; dedupe; summarizeSales; flattenRows',
    'missing columns; an empty list; two records with the same key; null values; a million rows'),
  topic('CSV, JSON and file formats', 'CSV file; JSON document; header; field; delimiter; schema',
    'parseCsv; toJson; read_config; validateSchema; writeRows; mergeDocuments',
    'quoted commas; a trailing newline; a byte-order mark; nested arrays; duplicate keys'),
  topic('state machines and simulations', 'state machine; elevator; traffic light; robot; turnstile; simulation',
    'step; runProgram; nextState; simulate; dispatch_event; insertCoin',
    'an unknown event; the same event twice; a full queue; the initial state; a reset in the middle'),
  topic('graphs, trees and paths', 'graph; tree; node; edge; path; cycle',
    'shortestPath; topological_sort; findCycle; depthOf; lowestCommonAncestor; connectedParts',
    'a node without edges; a cycle; two equal paths; a tree of one node; disconnected parts'),
  topic('sorting, searching and ranking', 'list; ranking; score; leaderboard; index; order',
    'binarySearch; sortStable; topK; rank_players; insertSorted; medianOf',
    'ties; an empty array; one element; duplicates; already sorted input'),
  topic('SQL and databases', 'query; database; transaction; migration; index; row lock',
    'findUserByEmail; buildWhere; run_migration; upsertOrder; paginate; withTransaction',
    'NULL columns; two writers at once; an offset past the end; a quote in the name; a rolled back transaction'),
  topic('HTTP services and APIs', 'request; endpoint; response; header; client; webhook',
    'fetchWithRetry; parseHeaders; handle_webhook; routeRequest; buildUrl; rateLimit',
    'a timeout; status 429; an empty body; a redirect; a trailing slash'),
  topic('authentication and security', 'token; session; password; permission; signature; role',
    'verifyToken; hashPassword; can_access; refreshSession; checkSignature; escapeHtml',
    'an expired token; a missing role; a tampered signature; an empty password; two sessions of one user'),
  topic('user interfaces and forms', 'button; form; dialog; dropdown; component; page',
    'renderList; validateForm; onSubmit; use_debounce; toggleMenu; focusTrap',
    'a double click; an empty field; a narrow screen; a screen reader; a slow network'),
  topic('concurrency, queues and workers', 'queue; lock; thread; job; promise; worker pool',
    'runLimited; acquireLock; drain_queue; retryJob; debounce; mapConcurrent',
    'two calls at the same time; a job that throws; a cancelled task; a limit of one; an empty queue'),
  topic('caches and memory', 'cache; buffer; pool; entry; key; heap',
    'memoize; evictOldest; get_or_load; LruCache.get; invalidate; cacheKey',
    'a key that expired; undefined values; a capacity of zero; object keys; many misses'),
  topic('files and paths', 'path; folder; file; archive; symlink; extension',
    'resolvePath; walkFolder; copy_tree; relativeTo; readLines; uniqueName',
    'a path with spaces; an absolute path; a missing folder; Windows separators; dots in the name'),
  topic('games and puzzles', 'board; card; player; move; dice; maze',
    'isCheckmate; scoreHand; legal_moves; solveMaze; shuffleDeck; nextGeneration',
    'a full board; a draw; the first move; an illegal move; a board of one square'),
  topic('matrices and statistics', 'matrix; vector; average; histogram; sample; correlation',
    'multiply; transpose; running_mean; percentile; standardDeviation; normalize',
    'an empty sample; a single value; a singular matrix; unequal lengths; NaN values'),
  topic('encodings and compression', 'byte; base64 text; checksum; bit; hash; run length',
    'encodeBase64; crc32; decode_varint; compressRuns; hexToBytes; popCount',
    'an odd length; bytes above 127; an empty buffer; padding; the largest integer'),
  topic('logging, metrics and configuration', 'log; metric; setting; flag; environment variable; alert',
    'loadConfig; formatLog; record_metric; isEnabled; mergeSettings; redactSecrets',
    'a missing setting; a false default; nested keys; a secret in the log; an unknown flag'),
  topic('command lines and build scripts', 'option; command; script; pipeline; build; exit code',
    'parseArgs; runStep; print_usage; resolveTargets; expandGlobs; exitCodeOf',
    'an unknown option; no arguments; a failing step; quotes in an argument; parallel builds'),
  topic('shopping, orders and stock', 'order; cart; product; customer; stock; shipment',
    'placeOrder; reserveStock; cancel_order; shippingCost; bestSellers; applyVoucher',
    'a cancelled order; no stock; the same product twice; an expired voucher; a quantity of zero'),
  topic('messages, mail and notifications', 'message; mail; subscriber; template; thread; notification',
    'sendDigest; renderTemplate; parseAddress; mark_read; unsubscribe; threadMessages',
    'an invalid address; a missing variable; two recipients; an empty inbox; a reply to a deleted message'),
];

/** Parts of function names that belong to no topic. */
export const NAME_VERBS = list('parse; build; merge; find; count; update; remove; format; load; check; compute; resolve; split; apply; collect; is; to; get; make; filter');
export const NAME_NOUNS = list(
  'Item; Node; User; Batch; Window; Label; Chunk; Score; Rule; Entry; Event; Frame; Cell; Block; Name; Level; Unit; Edge; Model; Plan; Zone; Tag; Stop; Coin; Seat; Song; Tile; Ticket; Recipe; Sensor',
);
export const FILES = list('src; lib; app; core; utils; server; packages/core; internal; services; tools');
export const EXTENSIONS = list('ts; js; py; go; rs; java; rb; kt; cs; php; cpp; swift');
export const LANGUAGES = list('TypeScript; JavaScript; Python; Go; Rust; Java; Ruby; Kotlin; C#; PHP; C++; Swift');
