/*
 * What the sentence above a block says it is for: a change, or an illustration. Questions are asked, and answers written, in many languages, so
 * the words of the most frequent ones are here. They only decide where the code itself leaves it open.
 */

const CHANGE = new RegExp(
  '\\b(?:chang|replac|updat|fix|correct|modif|edit|rewrit|rewrot|add|insert|append|put|creat|implement|refactor|renam|remov|delet|patch|adjust|swap|extend|adapt|improv)\\w*' +
    '|\\bshould (?:now )?(?:be|look|read)\\b|\\bnew version\\b|\\bfinal\\b|\\bbecomes?\\b|\\binstead\\b' +
    '|\\b(?:änder|ersetz|korrig|hinzu|füg|ergänz|anpass|pass\\w* an|umbenenn|verbesser|behob|beheb|repar)\\p{L}*' +
    '|\\b(?:remplac|modifi|corrig|ajout|cambi|reemplaz|añad|agreg|arregl|substitu|alter|adicion|sostitu|aggiung|corregg)\\p{L}*' +
    '|修改|替换|改为|改成|添加|修复|更新|変更|置換|置き換|修正|追加|수정|변경|추가|замен|измен|исправ|добав|обнов',
  'iu',
);

const ILLUSTRATION = new RegExp(
  '\\b(?:simplif|rough|equivalent|conceptual|pseudo|imagin|suppos|illustrat|schematic|hypothetic|sketch|analog|similar to)\\w*' +
    '|\\b(?:for example|for instance|e\\.g\\.|in essence|basically|currently|at the moment|how it works|works like|behaves like|means|usage|use it like|call it)\\b' +
    '|\\b(?:existing|current|original) (?:code|version|implementation|function|definition)\\b|\\b(?:here is|here\'s|this is) (?:how|what)\\b|\\bwould (?:be|look)\\b' +
    '|\\b(?:zum Beispiel|vereinfacht|etwa so|sinngemäß|derzeit|par exemple|simplifi\\p{L}*|por ejemplo|simplificad\\p{L}*|per esempio)\\b|z\\. ?B\\.|例如|比如|简化|例えば|たとえば|예를 들어|например|упрощ',
  'iu',
);

const BEFORE = new RegExp(
  '\\b(?:change|replace|find|from|before|old|current|currently|original|existing|instead of|swap|rewrite|turn|the lines?|locate|update)\\b' +
    '|\\b(?:ersetze|ersetzen|ändere|ändern|vorher|alt|bisher|aus|suche|remplace\\p{L}*|avant|cambia\\p{L}*|reemplaza\\p{L}*|antes|substitu\\p{L}*|sostitui\\p{L}*|prima)\\b' +
    '|замен|измен|до\\b|было|将|把|替换|修改前|原来|変更前|置き換え|次の|바꾸|변경 전',
  'iu',
);

const AFTER = new RegExp(
  '^\\W*(?:(?:and|then|it|that|this)\\s+){0,2}(?:to|with|by|into|after|new|becomes?|replacement|updated|fixed|corrected|change it to|replace it with|replace (?:it|them|that|this) (?:with|by)|' +
    'should be(?:come)?|durch|zu|nachher|neu|wird|wie folgt|par|après|en|por|después|con|poi|dopo)\\b|^\\W*(?:=>|→|->)|^\\W*(?:на|после|стало|为|成|改为|替换为|换成|修改后|変更後|に|이후|변경 후)',
  'iu',
);

export const saysChange = (text: string): boolean => CHANGE.test(text);
export const saysIllustration = (text: string): boolean => ILLUSTRATION.test(text);
/** Whether a definition is to be added. */
export const saysAddition = (text: string): boolean =>
  /\b(?:add|insert|append|put|new|create|implement|introduc|extend|hinzu|füg|ergänz|neue?|ajout|añad|agreg|nouv|nuev)\p{L}*|添加|新增|追加|추가|добав/iu.test(text);
/** Whether something is to be deleted. */
export const saysDeletion = (text: string): boolean =>
  /\b(?:remov|delet|drop|strip|eliminat|get rid|no longer|entfern|lösch|supprim|elimin|rimuov)\p{L}*|删除|移除|削除|삭제|удал/iu.test(text);
export const saysBefore = (text: string): boolean => BEFORE.test(text.split('\n').slice(-3).join('\n'));
export const saysAfter = (text: string): boolean => text.split('\n').some((line) => AFTER.test(line));
/** One of several ways to do it, of which a person has to choose. */
export const saysAlternative = (text: string): boolean =>
  /\b(?:alternativ\p{L}*|option|variant|variante|approach|opci[oó]n|möglichkeit)\s*(?:#\s*)?(?:\d|[A-D]\b)|\balternativ(?:ely|ement|amente|e:)?\b|\b(?:another|a second|other) (?:way|option|approach|possibility)\b|\bor,? if you(?: would)? (?:prefer|like|want)\b/iu.test(text);
