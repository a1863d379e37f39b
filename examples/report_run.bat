@echo off
rem One click for what a recording holds: report_run.bat RUN [flags of batchlight report]
rem
rem RUN: a recording that a Linux machine made (.batchlight), an export of Nsight Systems (.sqlite, or
rem .nsys-rep with one beside it) or a trace of torch.profiler (.json, .json.gz). Without RUN it is
rem results\train.batchlight, as quickstart.sh names it, or else train_h200.batchlight beside this script: eight
rem steps of train.py on an H200. Writes beside it a page with charts, one CSV per table and a README snippet,
rem and the SQLite file that nsys's scripts read; then opens the page.
setlocal
set "batchlight=%~dp0batchlight.exe"
if not exist "%batchlight%" set "batchlight=batchlight.exe"
set "run=%~1"
if "%run%"=="" set "run=results\train.batchlight"
if "%~1"=="" if not exist "%run%" set "run=%~dp0train_h200.batchlight"
if not exist "%run%" (
  echo report_run: there is no %run%: name a recording, as in report_run.bat results\train.batchlight 1>&2
  exit /b 3
)
for %%f in ("%run%") do set "base=%%~dpnf"
for %%f in ("%run%") do set "kind=%%~xf"
"%batchlight%" report -f -o "%base%_report" "%run%" %2 %3 %4 %5 %6 %7 %8 %9
if errorlevel 1 exit /b %errorlevel%
if /i not "%kind%"==".sqlite" "%batchlight%" export -t sqlite -f true -o "%base%.sqlite" "%run%"
if errorlevel 1 exit /b %errorlevel%
if "%BATCHLIGHT_NO_BROWSER%"=="" start "" "%base%_report\index.html"
