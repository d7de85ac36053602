import { describe, expect, it } from 'vitest';
import { panelHtml } from '../../extension/common/panel-html.ts';

const html = panelHtml({
  cspSource: 'https://webview.test',
  nonce: 'abc123',
  scriptUri: 'https://webview.test/dist/webview.js',
  styleUris: ['https://webview.test/dist/webview.css?a="b"&c'],
  title: 'Conductor',
  language: 'de',
  texts: { 'Show all {0} lines': 'Alle {0} Zeilen zeigen', 'A': '</script><b a="\'">' },
});

describe('panelHtml', () => {
  const policy = /Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1] ?? '';

  it('allows nothing by default, and nothing inline or evaluated', () => {
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|\*|data:|blob:/);
  });

  it('runs the one script that carries the nonce', () => {
    expect(policy).toContain("script-src 'nonce-abc123'");
    expect(html.match(/<script/g)).toHaveLength(1);
    expect(html).toContain('<script nonce="abc123" src="https://webview.test/dist/webview.js">');
  });

  it('loads pictures and fonts from the extension alone', () => {
    expect(policy).toContain('img-src https://webview.test;');
    expect(policy).toContain('font-src https://webview.test;');
  });

  it('holds the texts of the language as data, not as code', () => {
    expect(html).toContain('{&quot;Show all {0} lines&quot;:&quot;Alle {0} Zeilen zeigen&quot;,&quot;A&quot;:&quot;&lt;/script&gt;&lt;b a=\\&quot;\'\\&quot;&gt;&quot;}');
  });

  it('keeps addresses within their attributes', () => {
    expect(html).toContain('href="https://webview.test/dist/webview.css?a=&quot;b&quot;&amp;c"');
  });
});
