import type { SimulatedCall, SimulatedTool, SimulatedTurn } from '../../../backend/simulator/simulated-model.ts';
import type { HandsRule } from '../../../backend/simulator/worker-model.ts';

/** What the simulated model is told to leave in the file, and whether it has seen it there. */
export interface Editing {
  readonly file: string;
  readonly wanted: string;
}

export interface Seen {
  /** Requests that offered tools. */
  turns: number;
  /** Results of tools in the last of them. */
  results: number;
}

type Call = Omit<SimulatedCall, 'id'>;

/** What an agent's tools can do with files. They are known by their names and schemas. */
export interface AgentHands {
  readonly canWrite: boolean;
  /** One call for each tool that can read a file. */
  look(file: string): Call[];
  write(file: string, text: string): Call[];
  run(command: string): Call[];
}

export function handsOf(tools: readonly SimulatedTool[]): AgentHands {
  const tool = (pattern: RegExp): SimulatedTool | undefined => tools.find((one) => pattern.test(one.name));
  const shell = tool(/^(?:bash|shell|shell_command|exec_command|run_shell_command|execute|execute_bash)$/i);
  const [read, write] = [tool(/^(?:read(?:_file)?|view)$/i), tool(/^write(?:_file)?$/i)];
  const run = (command: string): Call[] => (shell ? [callOf(shell, { command, cmd: command, description: 'Looks' })] : []);
  return {
    canWrite: write !== undefined || shell !== undefined,
    look: (file) => [...(read ? [callOf(read, { file_path: file, filePath: file, filepath: file, path: file })] : []), ...run(`cat ${file}`)],
    write: (file, text) => (write ? [callOf(write, { file_path: file, filePath: file, filepath: file, path: file, content: text })] : run(`echo '${text.trimEnd()}' > ${file}`)),
    run,
  };
}

/** Looks at the file with every tool that can, replaces its text, looks again, and is done. */
export function edits({ file, wanted }: Editing, seen: Seen): HandsRule {
  return ({ name }, { messages, tools = [] }): SimulatedTurn => {
    const results = messages.filter(({ role }) => role === 'tool');
    seen.turns += 1;
    seen.results = results.length;
    const hands = handsOf(tools);
    const look = hands.look(file);
    if (results.length === 0) return { text: 'I look at the file first.', calls: look };
    if (results.length <= look.length) return { text: '', calls: hands.write(file, `${wanted}\n`) };
    if (results.length === look.length + 1) return { text: 'I look again.', calls: hands.run(`cat ${file}`) };
    const isThere = results.at(-1)?.content.includes(wanted) ?? false;
    return { text: `Simulated by ${name}. ${isThere ? 'Done: the file is changed.' : 'The file is as it was.'}`, calls: [] };
  };
}

/** A call with those of the values that the tool's schema names, and something for what it demands besides. */
function callOf({ name, parameters }: SimulatedTool, values: Readonly<Record<string, string>>): Call {
  const { properties = {}, required = [] } = (parameters ?? {}) as { properties?: Record<string, { type?: string; enum?: string[] }>; required?: string[] };
  const given = Object.entries(values).filter(([key]) => Object.hasOwn(properties, key));
  const demanded = required.filter((key) => !Object.hasOwn(values, key)).map((key) => {
    const { type, enum: [first] = [] } = properties[key] ?? {};
    return [key, first ?? (type === 'number' || type === 'integer' ? 30 : type === 'boolean' ? false : 'Looks')] as const;
  });
  const asTyped = [...demanded, ...given.map(([key, value]) => [key, properties[key]?.type === 'array' ? ['bash', '-c', value] : value] as const)];
  return { name, arguments: JSON.stringify(Object.fromEntries(asTyped)) };
}
