/** A picture of dots from an SVG, drawn by the browser. */

/** Twice as many dots as the figure's own size: sharp on paper. */
const DOTS = 2;

/** Rejects where the browser cannot draw it. */
export async function toPng(svg: string): Promise<Blob> {
  const picture = new Image();
  // A data address, not a blob's: it stays this page's own, even in a file, and so can be read back.
  picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await picture.decode();
  const canvas = document.createElement("canvas");
  canvas.width = DOTS * picture.naturalWidth;
  canvas.height = DOTS * picture.naturalHeight;
  canvas.getContext("2d")?.drawImage(picture, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, "image/png"));
  if (!blob) throw new Error("the browser made no picture");
  return blob;
}
