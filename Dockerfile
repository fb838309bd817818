# Token Trace with its model inside. docs/deployment.md says how to run it.
#
#   docker build --tag token-trace .
#   docker build --tag token-trace --build-arg MODEL=qwen2.5-0.5b .
#   docker build --tag token-trace --build-arg MODEL= .          # weights mounted at /weights

FROM python:3.11-slim-bookworm AS build
WORKDIR /srv/token-trace
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 TRACEAPP_DATA_DIR=/tmp/build \
    TRACEAPP_WEIGHTS_DIR=/weights
# The build of torch for processors alone; the one of PyPI is gigabytes larger.
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
ARG MODEL=smollm2-135m
RUN python -m venv .venv && \
    .venv/bin/python -m pip install torch==2.13.0 --index-url "$TORCH_INDEX"
COPY pyproject.toml constraints.txt README.md LICENSE NOTICE manage.py ./
COPY inference inference
COPY traceapp traceapp
RUN .venv/bin/python -m pip install --constraint constraints.txt --editable '.[postgres,redis]'
COPY templates templates
COPY static static
RUN .venv/bin/python manage.py collectstatic --no-input --verbosity 0 && \
    mkdir -p /weights && \
    if [ -n "$MODEL" ]; then .venv/bin/python manage.py fetch_model "$MODEL"; fi && \
    rm -rf /tmp/build

FROM python:3.11-slim-bookworm
# Nobody's user: it owns the data and can change nothing of the program or the weights.
COPY --from=build /weights /weights
RUN useradd --system --uid 10001 --no-create-home --home-dir /data --shell /usr/sbin/nologin trace && \
    install --directory --owner=trace --group=trace --mode=0700 /data /weights/kernels
COPY --from=build /srv/token-trace /srv/token-trace
WORKDIR /srv/token-trace
ENV PATH=/srv/token-trace/.venv/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 \
    TRACEAPP_DATA_DIR=/data TRACEAPP_WEIGHTS_DIR=/weights
USER 10001
VOLUME /data /weights/kernels
EXPOSE 8000
STOPSIGNAL SIGTERM
# By the container's own name, which the server answers to whatever TRACEAPP_ALLOWED_HOSTS says.
HEALTHCHECK --interval=30s --timeout=5s --start-period=120s \
    CMD ["python", "-c", "import socket, urllib.request as u; u.urlopen(f'http://{socket.gethostname()}:8000/health', timeout=4)"]
CMD ["sh", "-c", "python manage.py migrate --no-input --verbosity 0 && exec python manage.py serve --host 0.0.0.0 --port 8000"]
