/*
 * One file in each of eight languages, and one right change in it: a line of a function, and a line of a method. All forms write these changes.
 */

export interface Target {
  readonly name: string;
  /** Without the indentation that it has in the file. */
  readonly before: string;
  readonly after: string;
  /** How deep it is in the file. */
  readonly indent: string;
  /** The lines that differ, as they are in the file. */
  readonly oldLine: string;
  readonly newLine: string;
}

export interface Sample {
  readonly language: string;
  readonly path: string;
  readonly comment: string;
  readonly file: string;
  readonly fn: Target;
  readonly method: Target;
  /** The type that the method belongs to: its first line, and its last. */
  readonly type: readonly [string, string];
}

const target = (name: string, text: string, indent: string, [oldLine, newLine]: readonly [string, string]): Target => ({
  name, indent, oldLine, newLine,
  before: text.split('\n').map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line)).join('\n'),
  after: text.replace(oldLine, () => newLine).split('\n').map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line)).join('\n'),
});

interface Source extends Pick<Sample, 'language' | 'path' | 'comment' | 'type'> {
  readonly head: string;
  readonly fn: readonly [name: string, text: string, change: readonly [string, string]];
  readonly method: readonly [name: string, text: string, indent: string, change: readonly [string, string]];
  readonly around: readonly [beforeMethod: string, afterMethod: string];
  readonly tail: string;
}

const sample = ({ head, fn, method, around, tail, type, ...named }: Source): Sample => ({
  ...named,
  type,
  file: `${head}\n\n${fn[1]}\n\n${type[0]}\n${around[0]}${method[1]}\n${around[1]}${type[1] === '' ? '' : `${type[1]}\n`}\n${tail}\n`,
  fn: target(fn[0], fn[1], '', fn[2]),
  method: target(method[0], method[1], method[2], method[3]),
});

export const SAMPLES: readonly Sample[] = [
  sample({
    language: 'python', path: 'shop/cart.py', comment: '#',
    head: '"""Prices of a cart."""\nimport math\nfrom typing import Iterable\n\nRATE = 0.19\n\n\ndef net(price, count):\n    """Without tax."""\n    return price * count\n',
    fn: ['total', 'def total(items: Iterable) -> float:\n    """The sum of all items."""\n    result = 0.0\n    for item in items:\n        if item is None:\n            continue\n        result += item.price\n    return math.floor(result * 100) / 100', ['        result += item.price', '        result += item.price * item.count']],
    type: ['\nclass Cart:', ''],
    around: ['    """A cart."""\n\n    def __init__(self):\n        self.items = []\n\n', '\n    def clear(self):\n        self.items = []\n'],
    method: ['add', '    def add(self, item):\n        if item in self.items:\n            return False\n        self.items.append(item)\n        return False', '    ', ['        self.items.append(item)\n        return False', '        self.items.append(item)\n        return True']],
    tail: '\ndef taxed(price):\n    return price * (1 + RATE)',
  }),
  sample({
    language: 'javascript', path: 'src/cart.js', comment: '//',
    head: "import { floor } from './math.js';\n\nconst RATE = 0.19;\n\nexport function net(price, count) {\n  return price * count;\n}",
    fn: ['total', '/** The sum of all items. */\nexport function total(items) {\n  let result = 0;\n  for (const item of items) {\n    if (item === null) continue;\n    result += item.price;\n  }\n  return floor(result * 100) / 100;\n}', ['    result += item.price;', '    result += item.price * item.count;']],
    type: ['export class Cart {', '}'],
    around: ['  constructor() {\n    this.items = [];\n  }\n\n', '\n  clear() {\n    this.items = [];\n  }\n'],
    method: ['add', '  add(item) {\n    if (this.items.includes(item)) {\n      return false;\n    }\n    this.items.push(item);\n    return false;\n  }', '  ', ['    this.items.push(item);\n    return false;', '    this.items.push(item);\n    return true;']],
    tail: 'export const taxed = (price) => price * (1 + RATE);',
  }),
  sample({
    language: 'typescript', path: 'src/cart.ts', comment: '//',
    head: "import { floor } from './math.ts';\nimport type { Item } from './item.ts';\n\nconst RATE = 0.19;\n\nexport function net(price: number, count: number): number {\n  return price * count;\n}",
    fn: ['total', '/** The sum of all items. */\nexport function total(items: readonly (Item | null)[]): number {\n  let result = 0;\n  for (const item of items) {\n    if (item === null) continue;\n    result += item.price;\n  }\n  return floor(result * 100) / 100;\n}', ['    result += item.price;', '    result += item.price * item.count;']],
    type: ['export class Cart<T extends Item> {', '}'],
    around: ['  readonly items: T[] = [];\n\n  constructor(readonly owner: string) {}\n\n', '\n  clear(): void {\n    this.items.length = 0;\n  }\n'],
    method: ['add', '  add(item: T): boolean {\n    if (this.items.includes(item)) {\n      return false;\n    }\n    this.items.push(item);\n    return false;\n  }', '  ', ['    this.items.push(item);\n    return false;', '    this.items.push(item);\n    return true;']],
    tail: 'export const taxed = (price: number): number => price * (1 + RATE);',
  }),
  sample({
    language: 'go', path: 'internal/cart/cart.go', comment: '//',
    head: 'package cart\n\nimport (\n\t"errors"\n\t"math"\n)\n\nconst rate = 0.19\n\nvar errFull = errors.New("full")\n\n// Net is the price without tax.\nfunc Net(price float64, count int) float64 {\n\treturn price * float64(count)\n}',
    fn: ['Total', '// Total is the sum of all items.\nfunc Total(items []*Item) float64 {\n\tresult := 0.0\n\tfor _, item := range items {\n\t\tif item == nil {\n\t\t\tcontinue\n\t\t}\n\t\tresult += item.Price\n\t}\n\treturn math.Floor(result*100) / 100\n}', ['\t\tresult += item.Price', '\t\tresult += item.Price * float64(item.Count)']],
    type: ['// Cart holds items.\ntype Cart struct {\n\titems []*Item\n\tlimit int\n}\n', ''],
    around: ['', '\n// Clear removes all items.\nfunc (c *Cart) Clear() {\n\tc.items = nil\n}\n'],
    method: ['Add', '// Add puts an item into the cart.\nfunc (c *Cart) Add(item *Item) error {\n\tif len(c.items) > c.limit {\n\t\treturn errFull\n\t}\n\tc.items = append(c.items, item)\n\treturn nil\n}', '', ['\tif len(c.items) > c.limit {', '\tif len(c.items) >= c.limit {']],
    tail: '// Taxed is the price with tax.\nfunc Taxed(price float64) float64 {\n\treturn price * (1 + rate)\n}',
  }),
  sample({
    language: 'rust', path: 'src/cart.rs', comment: '//',
    head: 'use std::collections::HashMap;\n\nuse crate::item::Item;\n\nconst RATE: f64 = 0.19;\n\npub fn net(price: f64, count: u32) -> f64 {\n    price * f64::from(count)\n}',
    fn: ['total', '/// The sum of all items.\n#[must_use]\npub fn total(items: &[Option<Item>]) -> f64 {\n    let mut result = 0.0;\n    for item in items {\n        let Some(item) = item else {\n            continue;\n        };\n        result += item.price;\n    }\n    (result * 100.0).floor() / 100.0\n}', ['        result += item.price;', '        result += item.price * f64::from(item.count);']],
    type: ['#[derive(Default)]\npub struct Cart {\n    items: HashMap<String, Item>,\n    limit: usize,\n}\n\nimpl Cart {', '}'],
    around: ['    pub fn new() -> Self {\n        Self::default()\n    }\n\n', '\n    pub fn clear(&mut self) {\n        self.items.clear();\n    }\n'],
    method: ['add', '    pub fn add(&mut self, item: Item) -> bool {\n        if self.items.len() > self.limit {\n            return false;\n        }\n        self.items.insert(item.name.clone(), item);\n        true\n    }', '    ', ['        if self.items.len() > self.limit {', '        if self.items.len() >= self.limit {']],
    tail: 'pub fn taxed(price: f64) -> f64 {\n    price * (1.0 + RATE)\n}',
  }),
  sample({
    language: 'java', path: 'src/main/java/shop/Cart.java', comment: '//',
    head: 'package shop;\n\nimport java.util.ArrayList;\nimport java.util.List;\n\n/** Prices of a cart. */\nfinal class Prices {\n    private static final double RATE = 0.19;\n\n    static double net(double price, int count) {\n        return price * count;\n    }',
    fn: ['total', '    /** The sum of all items. */\n    static double total(List<Item> items) {\n        double result = 0;\n        for (Item item : items) {\n            if (item == null) {\n                continue;\n            }\n            result += item.price();\n        }\n        return Math.floor(result * 100) / 100;\n    }', ['            result += item.price();', '            result += item.price() * item.count();']],
    type: ['    static double taxed(double price) {\n        return price * (1 + RATE);\n    }\n}\n\npublic class Cart {', '}'],
    around: ['    private final List<Item> items = new ArrayList<>();\n    private int limit = 10;\n\n    public Cart() {\n    }\n\n', '\n    public void clear() {\n        items.clear();\n    }\n'],
    method: ['add', '    @Deprecated\n    public boolean add(Item item) {\n        if (items.size() > limit) {\n            return false;\n        }\n        return items.add(item);\n    }', '    ', ['        if (items.size() > limit) {', '        if (items.size() >= limit) {']],
    tail: 'record Item(String name, double price, int count) {\n}',
  }),
  sample({
    language: 'ruby', path: 'lib/shop/cart.rb', comment: '#',
    head: "# frozen_string_literal: true\n\nrequire 'set'\nrequire_relative 'item'\n\nRATE = 0.19\n\ndef net(price, count)\n  price * count\nend",
    fn: ['total', '# The sum of all items.\ndef total(items)\n  sum = 0.0\n  items.each do |item|\n    next if item.nil?\n\n    sum += item.price\n  end\n  (sum * 100).floor / 100.0\nend', ['    sum += item.price', '    sum += item.price * item.count']],
    type: ['class Cart', 'end'],
    around: ['  attr_reader :items\n\n  def initialize\n    @items = []\n    @limit = 10\n  end\n\n', '\n  def clear\n    @items = []\n  end\n'],
    method: ['add', '  def add(item)\n    if @items.size > @limit\n      return false\n    end\n    @items << item\n    true\n  end', '  ', ['    if @items.size > @limit', '    if @items.size >= @limit']],
    tail: 'def taxed(price)\n  price * (1 + RATE)\nend',
  }),
  sample({
    language: 'php', path: 'src/Cart.php', comment: '//',
    head: "<?php\n\nnamespace Shop;\n\nuse InvalidArgumentException;\n\nconst RATE = 0.19;\n\nfunction net(float $price, int $count): float\n{\n    return $price * $count;\n}",
    fn: ['total', '/** The sum of all items. */\nfunction total(array $items): float\n{\n    $result = 0.0;\n    foreach ($items as $item) {\n        if ($item === null) {\n            continue;\n        }\n        $result += $item->price;\n    }\n    return floor($result * 100) / 100;\n}', ['        $result += $item->price;', '        $result += $item->price * $item->count;']],
    type: ['class Cart\n{', '}'],
    around: ['    private array $items = [];\n\n    public function __construct(private string $owner)\n    {\n    }\n\n', '\n    public function clear(): void\n    {\n        $this->items = [];\n    }\n'],
    method: ['add', '    public function add(Item $item): bool\n    {\n        if (in_array($item, $this->items, true)) {\n            return false;\n        }\n        $this->items[] = $item;\n        return false;\n    }', '    ', ['        $this->items[] = $item;\n        return false;', '        $this->items[] = $item;\n        return true;']],
    tail: 'function taxed(float $price): float\n{\n    return $price * (1 + RATE);\n}',
  }),
].map((one): Sample => (one.language === 'java' ? { ...one, fn: target('total', JAVA_TOTAL(one.file), '    ', [one.fn.oldLine, one.fn.newLine]) } : one));

/** In Java a function is a method, too. */
function JAVA_TOTAL(file: string): string {
  const start = file.indexOf('    /** The sum');
  return file.slice(start, file.indexOf('\n\n', start));
}

/** The file after the change. */
export const changed = ({ file }: Sample, { oldLine, newLine }: Target): string => file.replace(oldLine, () => newLine);

/** The files that are shown with a sample: not two in languages that a block could be of both. */
export const shownWith = ({ language }: Sample): string[] =>
  SAMPLES.filter((other) => !(/script/.test(language) && /script/.test(other.language)) || other.language === language).map(({ path }) => path);
