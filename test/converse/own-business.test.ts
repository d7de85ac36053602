import { describe, expect, it } from 'vitest';
import { answerAsked, goesOnFrom, isOwnBusiness } from '../../backend/converse/own-business.ts';
import type { SpokenMessage } from '../../backend/protocol/conversation.ts';

const user = (content: string): SpokenMessage => ({ role: 'user', content });
const system = (content: string): SpokenMessage => ({ role: 'system', content });
const answered = (content: string): SpokenMessage => ({ role: 'assistant', content });
const spoken: SpokenMessage[] = [user('Mend the sum'), { role: 'assistant', content: '', toolCalls: [{ id: 'c', name: 'read', arguments: '{}' }] }, { role: 'tool', callId: 'c', content: '1' }];
const toldOfAnother = user('For context: below is a transcript of what another agent did, quoted between <<<BEGIN_QUOTED_AGENT_CONTENT>>> and <<<END_QUOTED_AGENT_CONTENT>>>.\n[root] `transfer_to_agent` tool returned result:\n<<<BEGIN_QUOTED_AGENT_CONTENT>>>\n{\'result\': None}\n<<<END_QUOTED_AGENT_CONTENT>>>');
const READ = { name: 'read', description: '', parameters: {} };

describe('what agents ask for themselves', () => {
  // Their own words, shortened: Claude Code 2.1.332, Codex 0.171.0, OpenCode 1.18.33, Continue 1.5.47, Qwen Code 0.24.4, Aider 0.86.2, Pi 0.73.1.
  it.each([
    ['Claude Code\'s summary', [...spoken, user('CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.\n\nYour task is to create a detailed summary of the conversation so far, paying close attention to the user\'s explicit requests.')], [READ]],
    ['Continue\'s summary', [...spoken, user('Please provide a concise summary of our conversation so far, capturing the key context, decisions made, and current state.')], [READ]],
    ['Codex\'s summary', [...spoken, user('You are performing a CONTEXT CHECKPOINT COMPACTION. Create a handoff summary for another LLM that will resume the task.')], []],
    ['OpenCode\'s summary', [system('You are a context summarization agent. You are given a conversation between a user and an agent.'), user('[Tool result]: 1')], []],
    ['Crush\'s title', [system('You will generate a short title based on the first message a user begins a conversation with.'), user('Generate a concise title for the following content:\n\nMend the sum')], []],
    ['OpenCode\'s title', [system('You are a title generator. You output ONLY a thread title.'), user('Generate a title for this conversation:\n'), user('"Mend the sum"')], []],
    ['Claude Code\'s title', [system('You are a Claude agent.'), system('Generate a concise, sentence-case title (3-7 words) that captures the main topic or goal of this coding session.'), user('<session>\nMend the sum\n</session>')], []],
    ['what Qwen Code would remember', [system('You are now acting as the managed memory extraction subagent for an AI coding assistant.'), ...spoken.slice(0, 1), user('Scan the recent conversation.')], [READ]],
    ['Aider\'s message of a commit', [system('You are an expert software engineer that generates concise, one-line Git commit messages based on the provided diffs.'), user('USER: Mend the sum\n\n# Diffs:\n+1')], []],
    ['Aider\'s summary', [system('*Briefly* summarize this partial conversation about programming.'), user('# USER\nMend the sum')], []],
    ['Pi\'s summary', [system('You are a context summarization assistant.'), user('<conversation>\n[User]: Mend the sum\n</conversation>')], []],
    ['Open WebUI\'s title', [user('### Task:\nGenerate a concise title summarizing the chat history.\n### Chat History:\n<chat_history>\nUSER: Mend the sum\n</chat_history>')], []],
    ['Open WebUI\'s questions that may follow', [user('### Task:\nPredict 3-5 useful messages this user might naturally send next to advance their current objective.\n### Chat History:\n<chat_history>\nUSER: Mend the sum\n</chat_history>')], []],
    ['Pydantic AI\'s word on an empty answer, which it leaves out', [user('Mend the sum'), user('Validation feedback:\nPlease return text or call a tool.\n\nFix the errors and try again.')], [READ]],
    ['mini-swe-agent\'s word on an answer without a call, which it leaves out', [...spoken, user('Tool call error:\n\n<error>\nNo tool calls found in the response.\n</error>')], [READ]],
    ['what a tool of smolagents returned', [user('New task:\nMend the sum'), answered('Calling tools: []'), user('Observation:\n1')], [READ]],
    ['what Google\'s ADK tells an agent of the one before it', [system('You are an agent.'), user('Mend the sum'), toldOfAnother], [READ]],
    ['Qwen Code\'s care of its memories', [system('You are performing a managed memory dream — a reflective pass over durable memory files.'), user('Consolidate.')], [READ]],
  ])('%s is one', (_name, messages, tools) => {
    expect(isOwnBusiness({ messages, tools })).toBe(true);
  });

  it.each([
    ['a task about summaries', [user('Write a function that makes a summary of a conversation.')], [READ]],
    ['such a task later on', [...spoken, user('Write a function that makes a summary of a conversation.')], [READ]],
    ['a question with documents that Open WebUI adds', [user('### Task:\nRespond to the user query using the provided context.\n<context>\n1\n</context>\n\nWhat is a sum?')], []],
    ['a first message that begins as a repair does', [user('Validation errors found:\nname is missing. Why?')], []],
    ['a question about what such an agent is told', [user('Mend the sum'), answered('Mended.'), user(`${toldOfAnother.content}\nWhy is it told that?`)], []],
    ['a schema with titles that Instructor puts into the instructions', [
      system('As a genius expert, your task is to understand the content and provide the parsed objects in json that match the following json_schema:\n\n{\n  "properties": {\n    "attributed": {\n      "title": "Attributed",\n      "description": "Whether the statement follows from the context",\n      "type": "integer"\n    }\n  },\n  "title": "Session"\n}'),
      user('Judge whether the answer follows from this conversation:\n{"title": "Session", "type": "object"}'),
    ], []],
    ['a question without tools', [user('How does a chat make a title of its conversation?')], []],
    ['a question of a program with instructions of its own', [system('Be brief.'), user('What is a sum?')], []],
    ['a task about titles for an agent that brings no tools', [system('Act as an expert software developer.'), user('Change the greeting.'), answered('Ok.'), user('Add a title to the chat page, and a summary of the thread.')], []],
    ['a task about messages of commits for such an agent', [system('Act as an expert software developer.'), user('Let the hook write a commit message.')], []],
    ['an agent whose long instructions speak of them', [system(`${'Be careful. '.repeat(600)}Give the session a title.`), user('Mend the sum')], []],
  ])('%s is none', (_name, messages, tools) => {
    expect(isOwnBusiness({ messages, tools })).toBe(false);
  });
});

it('knows the answer that is asked for once more, and no calls of tools', () => {
  expect([answerAsked([user('Mend the sum'), answered('Mended.'), system('As JSON.')]), answerAsked(spoken.slice(0, 2)), answerAsked([user('Mend the sum')])]).toEqual(['Mended.', undefined, undefined]);
});

it('is what is asked while tools are offered, but may not be called, as Copilot asks for a summary', () => {
  const messages = [...spoken, user('The context is compacted now: say what is to be kept.')];
  expect(isOwnBusiness({ messages, tools: [READ], toolChoice: 'none' })).toBe(true);
  expect(isOwnBusiness({ messages, tools: [READ] })).toBe(false);
});

it('knows the message with which an agent goes on from a summary, and no other', () => {
  const line = 'The sum in src/sum.js was off by one; the bound is mended, and its tests have not been run since.';
  expect(goesOnFrom(`<summary>\n${line}\n</summary>`, [user(`Here is the summary:\n${line}\n`)])).toBe(true);
  // Claude Code keeps its last call, and says again what it adds to messages.
  expect(goesOnFrom(line, [user(line), ...spoken.slice(1), user('<system-reminder>\nEnd commit messages so.\n</system-reminder>\n')])).toBe(true);
  // Crush says who asked for what after it.
  expect(goesOnFrom(line, [user('<system_reminder>Your todo list is empty.</system_reminder>'), user(line), user('The previous session was interrupted because it got too long, the initial user request was: `Mend it`')])).toBe(true);
  expect(goesOnFrom(line, [user(line), { role: 'assistant', content: 'Yes.' }, user('Now the other.')])).toBe(false);
  expect(goesOnFrom('Mend the sum', [user('Mend the sum')])).toBe(false);
  expect(goesOnFrom('', [user('Mend the sum')])).toBe(false);
});
