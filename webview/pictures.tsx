import * as l10n from '@vscode/l10n';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { PoolSummary } from '../backend/protocol/panel-messages.ts';
import { bytesOfBase64, MAX_PICTURES, PICTURE_TYPES, PictureError, pictureWords, seesPictures, type Picture } from '../backend/protocol/pictures.ts';
import type { RunSnapshot } from '../backend/protocol/run-snapshot.ts';
import { isPictureFile, withFiles } from './attached-pictures.ts';
import { Icon, ToolButton } from './controls.tsx';
import { useHost } from './host.ts';
import { list } from './language.ts';
import { Notice } from './notice.tsx';

export interface AttachedPictures {
  readonly pictures: readonly Picture[];
  /** Why the last file was not added. */
  readonly problem: string | undefined;
  readonly add: (files: readonly File[]) => void;
  readonly remove: (index: number) => void;
  /** For the element around the question: pictures may be pasted and dropped there. */
  readonly target: Pick<JSX.HTMLAttributes<HTMLElement>, 'onPaste' | 'onDragOver' | 'onDragLeave' | 'onDrop'>;
  readonly isOver: boolean;
}

/** The pictures of a question that is being written. @param key names the question: empty for a new one, else the run that it continues from */
export function useAttachedPictures(key: string): AttachedPictures {
  const host = useHost();
  const [pictures, setPictures] = useState(host.picturesOf(key));
  const [problem, setProblem] = useState<string>();
  const [isOver, setOver] = useState(false);
  const change = (next: readonly Picture[]): void => {
    host.attach(key, next);
    setPictures(next);
    setProblem(undefined);
  };
  const add = (files: readonly File[]): void => {
    if (files.length === 0) return;
    withFiles(host.picturesOf(key), files).then(change, (error: unknown) => {
      setProblem(error instanceof PictureError ? error.message : l10n.t('The picture cannot be read.'));
    });
  };
  const take = (event: Event, data: DataTransfer | null): void => {
    const files = [...(data?.files ?? [])].filter(isPictureFile);
    // Text that was copied with a picture of it stays text.
    if (files.length === 0 || data?.types.includes('text/plain')) return;
    event.preventDefault();
    add(files);
  };
  const target = {
    onPaste: (event: ClipboardEvent) => take(event, event.clipboardData),
    onDragOver: (event: DragEvent) => {
      if (![...(event.dataTransfer?.items ?? [])].some(({ kind }) => kind === 'file')) return;
      event.preventDefault();
      setOver(true);
    },
    onDragLeave: () => setOver(false),
    onDrop: (event: DragEvent) => {
      setOver(false);
      take(event, event.dataTransfer);
    },
  };
  return { pictures, problem, add, remove: (index) => change(pictures.filter((_, at) => at !== index)), target, isOver };
}

/** The button that adds pictures. */
export function AddPicture({ attached: { pictures, add } }: { readonly attached: AttachedPictures }): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input} type="file" accept={PICTURE_TYPES.join(',')} multiple hidden tabIndex={-1} aria-hidden="true"
        onChange={({ currentTarget }) => {
          add([...(currentTarget.files ?? [])]);
          // So that the same file can be chosen again.
          currentTarget.value = '';
        }}
      />
      {pictures.length < MAX_PICTURES && (
        <ToolButton icon="file-media" label={l10n.t('Add a picture, or paste or drop one here')} onClick={() => input.current?.click()} />
      )}
    </>
  );
}

/** The pictures that go with the question, and what stands in the way of them. */
export function Attached({ attached: { pictures, problem, remove }, pool }: {
  readonly attached: AttachedPictures; readonly pool: PoolSummary | undefined;
}): JSX.Element {
  const workers = pool?.workers.filter(({ enabled, ready }) => enabled && ready) ?? [];
  const nobodySees = pictures.length > 0 && workers.length > 0 && !workers.some((worker) => worker.seesPictures);
  return (
    <>
      {pictures.length > 0 && (
        <ul class="pictures" aria-label={l10n.t('Pictures')}>
          {pictures.map((picture, index) => (
            <li key={picture.data}>
              <Thumbnail picture={picture} />
              <ToolButton icon="close" label={l10n.t('Remove picture {0} ({1})', index + 1, pictureWords(picture))} onClick={() => remove(index)} />
            </li>
          ))}
        </ul>
      )}
      {problem !== undefined && <div role="alert"><Notice icon="warning" tone="caution">{problem}</Notice></div>}
      {nobodySees && (
        <Notice icon="info" tone="quiet">{l10n.t('None of your workers sees pictures. They are told that there is one, so say in words what matters in it.')}</Notice>
      )}
    </>
  );
}

/** The pictures of a run's question, and which of its workers see them. */
export function PicturesOf({ run: { request, pool } }: { readonly run: RunSnapshot }): JSX.Element | null {
  const { pictures = [] } = request;
  if (pictures.length === 0) return null;
  const seeing = pool.filter(seesPictures).map(({ id }) => id);
  return (
    <>
      <ul class="pictures" aria-label={l10n.t('Pictures')}>
        {pictures.map((picture) => <li key={picture.data}><Thumbnail picture={picture} /></li>)}
      </ul>
      <p class="quiet">
        {seeing.length === 0 ? l10n.t('No worker of this run sees pictures: they were told that there is one.')
          : seeing.length === pool.length ? l10n.t('All workers see them.')
          : l10n.t('Seen by {0}; the other workers are told of them in words.', list(seeing))}
      </p>
    </>
  );
}

/** Pixels of a side. Drawn with twice as many for sharp screens. */
const SIDE = 56;

/** A small picture. It is drawn on a canvas: the page's policy lets no address of an image in, so that a model's text cannot load one. */
function Thumbnail({ picture }: { readonly picture: Picture }): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [isDrawn, setDrawn] = useState(false);
  const { data, type } = picture;
  useEffect(() => {
    let wanted = true;
    drawnOf(data, type).then((image) => {
      if (wanted && image && canvas.current) setDrawn(draw(image, canvas.current));
      image?.close();
    }, () => setDrawn(false));
    return () => { wanted = false; };
  }, [data, type]);
  return (
    <figure class="picture" role="img" aria-label={l10n.t('Picture: {0}', pictureWords(picture))} title={pictureWords(picture)}>
      <canvas ref={canvas} width={SIDE * 2} height={SIDE * 2} hidden={!isDrawn} aria-hidden="true" />
      {!isDrawn && <Icon name="file-media" />}
    </figure>
  );
}

async function drawnOf(data: string, type: string): Promise<ImageBitmap | undefined> {
  const bytes = bytesOfBase64(data);
  if (!bytes || bytes.length === 0 || typeof createImageBitmap !== 'function') return undefined;
  return createImageBitmap(new Blob([bytes], { type })).catch(() => undefined);
}

/** Fills the canvas with the middle of the image. */
function draw(image: ImageBitmap, canvas: HTMLCanvasElement): boolean {
  const context = canvas.getContext('2d');
  const scale = Math.max(canvas.width / image.width, canvas.height / image.height);
  const [width, height] = [image.width * scale, image.height * scale];
  context?.drawImage(image, (canvas.width - width) / 2, (canvas.height - height) / 2, width, height);
  return context !== null;
}
