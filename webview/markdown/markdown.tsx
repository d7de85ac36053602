import { memo } from 'preact/compat';
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { SHOWN_CHARACTERS, ShowAll } from './capped.tsx';
import { CodeBlock } from './code-block.tsx';
import { renderMarkdown } from './render-markdown.ts';
import { head } from './visible-text.ts';

/** A finished text of a model. Streaming text is shown as plain text: rendering it again for each chunk would take quadratic time. */
export const Markdown = memo(function Markdown({ text, first = SHOWN_CHARACTERS }: {
  readonly text: string;
  /** Characters that are rendered before the user asks for the rest. */
  readonly first?: number;
}): JSX.Element {
  const [all, setAll] = useState(false);
  const shown = all ? text : head(text, first);
  const parts = useMemo(() => renderMarkdown(shown), [shown]);
  return (
    <div class="markdown" dir="auto">
      {parts.map((part, index) =>
        part.kind === 'code'
          ? <CodeBlock key={index} code={part.code} language={part.language} />
          // Sanitised in render-markdown.ts.
          : <div key={index} dangerouslySetInnerHTML={{ __html: part.html }} />)}
      {shown.length < text.length && <ShowAll characters={text.length} onClick={() => setAll(true)} />}
    </div>
  );
});

/** The user's text, with `code` in code style and otherwise unchanged. */
export function InlineCode({ text }: { readonly text: string }): JSX.Element {
  return <>{text.split(/(`[^`\n]+`)/).map((part, index) => (index % 2 ? <code key={index}>{part.slice(1, -1)}</code> : part))}</>;
}
